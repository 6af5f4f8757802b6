// Starts two servers on one database, kills the one that works on a run, and shows that the other one finishes it.
import { execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { createClient } from "pawl/client"

const pawl = fileURLToPath(new URL("bin/pawl.js", import.meta.resolve("pawl/package.json")))
const { DATABASE_URL } = process.env
if (!DATABASE_URL) throw new Error("Set DATABASE_URL, such as postgres://user:password@127.0.0.1/pawl.")
const env = { ...process.env, PAWL_PACKS: "./slow-pack.ts", PAWL_MODEL: "offline", PAWL_PORT: "0", PAWL_LOG: "off" }

/** Starts a server, and resolves with its address once it is ready. */
async function startNode() {
  const child = spawn(process.execPath, [pawl, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] })
  for await (const text of child.stdout.setEncoding("utf8")) {
    const [, url] = /listening on (\S+)/.exec(text) ?? []
    if (url) return { url, child }
  }
  throw new Error("The server did not start.")
}

const [first, second] = [await startNode(), await startNode()]
const token = execFileSync(process.execPath, [pawl, "token", "create", "--user", "ada"], {
  env,
  encoding: "utf8",
}).trim()
const [onFirst, onSecond] = [first, second].map(({ url }) => createClient({ baseUrl: url, token }))

const { id } = await onFirst!.createConversation({ body: { agent: "counter" } })
console.log("The first server works on: count to 6")
for await (const event of onFirst!.run(id, "count to 6")) if (event.type === "tool_start") break

first.child.kill("SIGKILL")
console.log("The first server is killed.")

for await (const event of onSecond!.events(id)) if (event.type === "run_ended") break
const { items } = await onSecond!.readMessages({ params: { id } })
console.log(items.at(-1)!.content)
second.child.kill()
