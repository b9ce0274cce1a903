"""A model of an OpenAI-compatible server, whose answers are a list of calls.

    python3 model.py CALLS.json

CALLS.json is a list of [tool, arguments]. The answer after the last result is the text `done`. Its address is on standard output. Results
of tools are lines of CALLS.json.results.
"""

import http.server
import json
import sys

path = sys.argv[1]


class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = [of["content"] for of in request["messages"] if of["role"] == "tool"]
        with open(path + ".results", "w") as file:
            file.writelines(json.dumps(result) + "\n" for result in results)
        with open(path + ".tools", "w") as file:
            file.writelines(of["function"]["name"] + "\n" for of in request.get("tools", []))
        with open(path) as file:
            calls = json.load(file)
        if len(results) < len(calls):
            tool, arguments = calls[len(results)]
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"c{len(results)}", "type": "function", "function": function}
            delta, finish = {"tool_calls": [call]}, "tool_calls"
        else:
            delta, finish = {"content": "done"}, "stop"
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        body = "".join(f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', **chunk})}\n\n" for chunk in chunks)
        body = (body + "data: [DONE]\n\n").encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
server.serve_forever()
