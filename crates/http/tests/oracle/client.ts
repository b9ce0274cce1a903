// Requests of a client, checked against the types that openapi-typescript makes of docs/openapi.json.
import type { components, paths } from "./api";

type Created = paths["/v1/runs"]["post"]["responses"]["201"]["content"]["application/json"];
type Problem = components["schemas"]["ProblemBody"];

async function call<T>(path: string, body: unknown): Promise<T> {
  const answer = await fetch(`http://localhost:7700${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
    body: JSON.stringify(body),
  });
  if (!answer.ok) {
    const problem = (await answer.json()) as Problem;
    throw new Error(`${problem.code}: ${problem.detail}; allowed: ${problem.run?.allowed.join(", ") ?? ""}`);
  }
  return (await answer.json()) as T;
}

export async function transfer(): Promise<string> {
  const intent: components["schemas"]["CreateBody"] = { intent: "send 5 USDC to 0xbeef", chain_id: 31337 };
  const run = await call<Created>("/v1/runs", intent);
  const ready = await call<Created>(`/v1/runs/${run.run_id}/start`, {});
  const approval: components["schemas"]["ApproveBody"] = { digest: ready.digest ?? undefined };
  const approved = await call<Created>(`/v1/runs/${run.run_id}/approve`, approval);
  // @ts-expect-error: the body of a new run names its intent.
  const wrong: components["schemas"]["CreateBody"] = { chain_id: 31337 };
  return `${approved.status} ${wrong}`;
}
