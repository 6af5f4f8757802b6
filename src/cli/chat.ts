import { join } from "node:path"
import type { ReadStream, WriteStream } from "node:tty"
import type { Mode } from "../protocol/schema.ts"
import { drawFirstPrompt } from "../terminal/first-prompt.ts"
import type { Choices, Reached } from "../terminal/reached.ts"
import { CommandError, readFlags } from "./command.ts"

export const help = `Usage: pawl chat [flags]

Talks in this terminal. What would change something is shown first, and done when you say yes. /help lists keys and
commands. Data is kept in PAWL_DATA, or where programs of yours keep theirs: never in the folder.

  --continue      go on with the last conversation of this folder, and with what waits there for your answer
  --mode MODE     read-only, confirm (default) or auto: what becomes of changes
  --model NAME    which model answers (PAWL_MODEL)
  --agent NAME    which agent
  --dir PATH      work in another folder than this one
  --server URL    talk to a server, with PAWL_TOKEN, instead of a Pawl in this process
`

/** As the treaty has them; its schemas take longer to load than the prompt. */
const modes: readonly Mode[] = ["read-only", "confirm", "auto"]

const flags = {
  continue: { type: "boolean", short: "c" },
  mode: { type: "string" },
  model: { type: "string" },
  agent: { type: "string" },
  dir: { type: "string" },
  server: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags("chat", words, flags)
  if (positionals.length > 0) throw new CommandError('pawl chat takes no request; pawl exec "…" does.')
  const mode = values.mode === undefined ? undefined : modes.find((each) => each === values.mode)
  if (values.mode !== undefined && !mode)
    throw new CommandError(`--mode cannot be "${values.mode}". Allowed: ${modes.join(", ")}.`)
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY)
    throw new CommandError('pawl chat needs a terminal, and this is a pipe or a file. Use pawl exec "…" here.')
  const choices: Partial<Choices> = {
    agent: values.agent,
    model: values.model,
    ...(mode ? { mode } : {}),
  }
  const streams = { stdin: stdin as ReadStream, stdout: stdout as WriteStream }
  const makeRoom = drawFirstPrompt(streams.stdin, streams.stdout)
  const { runTerminal } = await import("../terminal/run-terminal.ts")
  await runTerminal({
    ...streams,
    makeRoom,
    choices,
    continues: values.continue ?? false,
    reach: () => reach(values),
  })
  return 0
}

interface Where {
  readonly dir?: string | undefined
  readonly server?: string | undefined
}

/** Loaded after the prompt is there: a server has more to load than a prompt has time. */
async function reach({ dir = ".", server }: Where): Promise<Reached> {
  return server === undefined ? reachEmbedded(dir) : reachServer(dir, server)
}

async function reachEmbedded(dir: string): Promise<Reached> {
  const [{ readPersonalConfig }, { openEmbedded }] = await Promise.all([
    import("./config.ts"),
    import("./open-embedded.ts"),
  ])
  const config = readPersonalConfig()
  const embedded = await openEmbedded(config, { dir })
  const { client, conversations, close } = embedded
  return {
    client,
    where: embedded.dir,
    historyFile: historyIn(config.dataFolder),
    newest: async () => conversations.newest,
    entered: (id) => embedded.takeUp(id as Parameters<typeof embedded.takeUp>[0]),
    close,
  }
}

async function reachServer(dir: string, url: string): Promise<Reached> {
  const [{ readPersonalConfig }, { createClient }, { FolderConversations }] = await Promise.all([
    import("./config.ts"),
    import("../client/index.ts"),
    import("./folder-conversations.ts"),
  ])
  const { token, dataFolder } = readPersonalConfig()
  if (!token) throw new CommandError("Say who you are: PAWL_TOKEN; `pawl token create` makes one.")
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new CommandError(`--server cannot be "${url}". It is an address such as https://pawl.example.`)
  const client = createClient({ baseUrl: url, token })
  const conversations = new FolderConversations(dataFolder, `${url} ${dir}`)
  return {
    client,
    where: url,
    historyFile: historyIn(dataFolder),
    newest: async () => conversations.newest ?? (await client.listConversations({ query: { limit: 1 } })).items[0]?.id,
    entered: (id) => conversations.note(id as Parameters<typeof conversations.note>[0]),
    close: async () => {},
  }
}

const historyIn = (dataFolder: string): string => join(dataFolder, "chat-history")
