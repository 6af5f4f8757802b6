import { writeFileSync } from "node:fs"
import { join } from "node:path"

/** A program that speaks MCP with one tool, `echo`. */
const SOURCE = `import { createInterface } from "node:readline"
process.stderr.write("listening\\n")
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n")
const echo = { name: "echo", description: "Says it again.", inputSchema: { type: "object", properties: { text: { type: "string" } } } }
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === "initialize")
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "small", version: "1" } })
  if (method === "tools/list") answer(id, { tools: [echo] })
  if (method === "tools/call") answer(id, { content: [{ type: "text", text: "echo: " + params.arguments.text }] })
})
`

/** Writes the program into a folder; returns its name there. */
export function writeSmallProgram(folder: string): string {
  writeFileSync(join(folder, "server.mjs"), SOURCE)
  return "server.mjs"
}
