import { own } from "../../protocol/own.ts"
import { type Command, CommandError } from "../process/command.ts"

/** What `pawl mcp` does, by its first word; without one it serves. */
const parts: Readonly<Record<string, () => Promise<Pick<Command, "run">>>> = {
  serve: () => import("./mcp-serve.ts"),
}

export const help = `Usage: pawl mcp [serve] [--server URL] [--token TOKEN]

Speaks the Model Context Protocol on standard input and output, for programs that start their servers themselves: agents,
conversations, proposals, notes, documents and databases as tools. Changes wait until you decide in Pawl.

  --server URL    a server that runs already (default: a Pawl in this process, over PAWL_DATA)
  --token TOKEN   for --server: what \`pawl token create\` printed; better PAWL_TOKEN, which no list of processes shows

Exit codes: 0 whoever started it has closed its input, 1 wrong usage or settings.
`

export async function run([first, ...rest]: readonly string[]): Promise<number> {
  if (first === undefined || first.startsWith("-"))
    return (await import("./mcp-serve.ts")).run(first === undefined ? [] : [first, ...rest])
  const part = own(parts, first)
  if (!part) throw new CommandError(`pawl mcp takes no "${first}".\n\n${help}`)
  return (await part()).run(rest)
}
