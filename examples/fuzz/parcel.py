"""A parcel behind the protocol of `runstate fuzz`: one JSON object a line."""
import json
import os
import sys

FAULT = os.environ.get("FAULT")  # for a look at a finding, such as FAULT=lost


class Parcel:
    def __init__(self):
        self.state = "Packed"

    def dispatch(self, payload):
        if self.state != "Packed":
            return "it is not packed"
        if payload.get("cents", 0) < 100:
            return "the postage is not enough"
        self.state = "Sent"

    def deliver(self, payload):
        if self.state != "Sent" and not (FAULT == "lost" and self.state == "Lost"):
            return "it is not on its way"
        self.state = "Delivered"

    def lose(self, payload):
        if self.state != "Sent":
            return "it is not on its way"
        self.state = "Lost"

    def find(self, payload):
        if self.state != "Lost":
            return "it is not lost"
        self.state = "Sent"


parcel = Parcel()
for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"]}
    if "hello" in request:
        reply["ready"] = {"reset": True}
    elif "reset" in request:
        parcel = Parcel()
    elif "event" in request:
        refused = getattr(parcel, request["event"])(request["payload"])
        reply |= {"refused": refused} if refused else {"taken": True}
    reply["state"] = parcel.state
    print(json.dumps(reply), flush=True)
