import { own } from "../../protocol/own.ts"
import { type Command, CommandError } from "../process/command.ts"
import type { McpPart } from "./mcp-servers.ts"

/** What `pawl mcp` does, by its first word; without one it serves. */
const parts: Readonly<Record<string, () => Promise<Pick<Command, "run">>>> = {
  serve: () => import("./mcp-serve.ts"),
  list: () => partOf("list"),
  add: () => partOf("add"),
  change: () => partOf("change"),
  login: () => partOf("login"),
  logout: () => partOf("logout"),
  remove: () => partOf("remove"),
  tools: () => partOf("tools"),
  allow: () => partOf("allow"),
}

async function partOf(name: McpPart): Promise<Pick<Command, "run">> {
  const { runPart } = await import("./mcp-servers.ts")
  return { run: (words) => runPart(name, words) }
}

export const help = `Usage: pawl mcp [serve] [--server URL] [--token TOKEN]
       pawl mcp list
       pawl mcp add NAME URL [--header "Name: value"]… [--agent NAME]… [--public]
       pawl mcp add NAME -- COMMAND ARGUMENT…
       pawl mcp change NAME [--name NAME] [--url URL] [--header "Name: value"]… [--no-header Name]… [--agent NAME]…
                       [--public|--private]
       pawl mcp login NAME
       pawl mcp logout NAME
       pawl mcp tools NAME
       pawl mcp allow NAME TOOL [read|ask|off] [--again|--not-again]
       pawl mcp remove NAME

Speaks the Model Context Protocol on standard input and output, for programs that start their servers themselves: agents,
conversations, proposals, notes, documents and databases as tools. Changes wait until you decide in Pawl.

  --server URL    a server that runs already (default: a Pawl in this process, over PAWL_DATA)
  --token TOKEN   for --server: what \`pawl token create\` printed; better PAWL_TOKEN, which no list of processes shows

The others are about MCP servers whose tools your agents may have (docs/mcp.md): those that there are, one more, one that is
reached in another way, signing in to one that wants it, what one offers now with what has changed, agreeing to a tool as it
is (--again: it may run again after a crash, as it says itself), and one less. A COMMAND is a program of this machine, and
stands in mcp.json of the data folder. All take --server and --token too; add and change take --client-id, --client-secret
and --scope for a server that lets only programs in that it knows.

Exit codes: 0 done, or whoever started it has closed its input, 1 wrong usage or settings.
`

export async function run([first, ...rest]: readonly string[]): Promise<number> {
  if (first === undefined || first.startsWith("-"))
    return (await import("./mcp-serve.ts")).run(first === undefined ? [] : [first, ...rest])
  const part = own(parts, first)
  if (!part) throw new CommandError(`pawl mcp takes no "${first}".\n\n${help}`)
  return (await part()).run(rest)
}
