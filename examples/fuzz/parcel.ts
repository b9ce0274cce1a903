// A parcel behind the protocol of `runstate fuzz`: one JSON object a line.
// Run it with a runtime that reads TypeScript, such as `node --experimental-strip-types` (22) or `npx tsx`.
import { createInterface } from "node:readline";

type State = "Packed" | "Sent" | "Delivered" | "Lost";
type Payload = { cents?: number };

class Parcel {
  state: State = "Packed";

  /** Applies an event. Returns the reason of a refusal. */
  apply(event: string, payload: Payload): string | undefined {
    switch (`${this.state} ${event}`) {
      case "Packed dispatch":
        if ((payload.cents ?? 0) < 100) return "the postage is not enough";
        this.state = "Sent";
        return;
      case "Sent deliver":
        this.state = "Delivered";
        return;
      case "Sent lose":
        this.state = "Lost";
        return;
      case "Lost find":
        this.state = "Sent";
        return;
    }
    return `not in ${this.state}`;
  }
}

let parcel = new Parcel();
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const reply: Record<string, unknown> = { id: request.id };
  if (request.hello) reply.ready = { reset: true };
  if (request.reset) parcel = new Parcel();
  if (request.event) {
    const refused = parcel.apply(request.event, request.payload);
    Object.assign(reply, refused === undefined ? { taken: true } : { refused });
  }
  console.log(JSON.stringify({ ...reply, state: parcel.state }));
}
