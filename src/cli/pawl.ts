import manifest from "../../package.json" with { type: "json" }
import { SettingsError } from "../compose/settings-error.ts"
import { AppError, hasCode } from "../protocol/errors.ts"
import { type Command, CommandError } from "./process/command.ts"
import { own } from "../protocol/own.ts"

interface Entry {
  readonly summary: string
  load(): Promise<Command>
}

const commands: Readonly<Record<string, Entry>> = {
  serve: { summary: "start the server", load: () => import("./commands/serve.ts") },
  chat: { summary: "talk in this folder: pawl chat, pawl chat --continue", load: () => import("./commands/chat.ts") },
  acp: {
    summary: "let an editor drive Pawl: Zed, JetBrains, Neovim start it (docs/editors.md)",
    load: () => import("./commands/acp.ts"),
  },
  exec: {
    summary: 'run one request and print the answer: pawl exec "list my tasks"',
    load: () => import("./commands/exec.ts"),
  },
  eval: {
    summary: "run cases against agents and models, and say what has fallen: pawl eval FILE",
    load: () => import("./commands/eval.ts"),
  },
  device: {
    summary: "keep a workspace on this machine and work on it when the server asks",
    load: () => import("./commands/device.ts"),
  },
  token: {
    summary: "make a personal access token: pawl token create --user NAME",
    load: () => import("./commands/token.ts"),
  },
  invite: {
    summary: "make a link that signs a browser in: pawl invite --user NAME",
    load: () => import("./commands/invite.ts"),
  },
  show: {
    summary: "show what a run was spent on, step by step: pawl show run_…",
    load: () => import("./commands/show.ts"),
  },
  replay: {
    summary: "make each request of a run again and compare it with what was sent: pawl replay run_…",
    load: () => import("./commands/replay.ts"),
  },
  crashtest: {
    summary: "kill a scenario of your agents at each write, and see that it goes on: pawl crashtest FILE",
    load: () => import("./commands/crashtest.ts"),
  },
  ingest: {
    summary: "put papers and documents into a collection: pawl ingest PATH…",
    load: () => import("./commands/ingest.ts"),
  },
  mcp: {
    summary: "be an MCP server for a program that starts it: pawl mcp",
    load: () => import("./commands/mcp.ts"),
  },
  migrate: {
    summary: "bring the database up to date (serve does it by itself)",
    load: () => import("./commands/migrate.ts"),
  },
  "rotate-keys": {
    summary: "put every stored secret under a new master key, while the server runs",
    load: () => import("./commands/rotate-keys.ts"),
  },
  backup: {
    summary: "copy the database while the server runs: pawl backup FILE",
    load: () => import("./commands/backup.ts"),
  },
  doctor: { summary: "check the set-up and say what is wrong with it", load: () => import("./commands/doctor.ts") },
}

const help = `Usage: pawl <command> [flags]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(11)} ${summary}`)
  .join("\n")}

  pawl <command> --help explains a command; pawl help settings lists what can be set; pawl --version says which Pawl this is.
  Data is kept in ./.pawl, or where PAWL_DATA says.
`

// `pawl exec … | head` closes the pipe while we write, and the disk of a file or of a log fills up: what was begun is still
// carried out in good order, and a server goes on without its log until there is space again.
let isCut = false
process.stdout.on("error", cutUnlessClosed)
process.stderr.on("error", () => {})

process.exitCode = (await main(process.argv.slice(2))) || (isCut ? 1 : 0)

async function main([name, ...words]: readonly string[]): Promise<number> {
  if (name === "--version" || name === "-v") return say(`${manifest.version}\n`)
  if (name === "help" && words[0] === "settings") return say((await import("./settings/reference.ts")).settingsHelp())
  if (name === "help" && words[0] !== undefined) return main([words[0], "--help"])
  if (name === undefined || name === "--help" || name === "-h" || name === "help") return say(help)
  const entry = own(commands, name)
  if (!entry) {
    process.stderr.write(`pawl: there is no command "${name}".\n\n${help}`)
    return 2
  }
  // What a command makes is nobody else's to read. These also write a person's own files, with the modes they expect.
  if (!["chat", "exec", "acp"].includes(name)) process.umask(0o077)
  try {
    const command = await entry.load()
    return asksForHelp(words) ? say(command.help) : await command.run(words)
  } catch (error) {
    const known = error instanceof CommandError || error instanceof SettingsError || error instanceof AppError
    process.stderr.write(`pawl: ${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
    // What a pack has begun while it was loaded may never end, and nobody else can end it.
    if (hasCode(error, "pack_refused")) process.exit(1)
    return 1
  }
}

/** What stands behind `--` is not for us: it is a request, or the words of another program. */
function asksForHelp(words: readonly string[]): boolean {
  const ours = words.includes("--") ? words.slice(0, words.indexOf("--")) : words
  return ours.includes("--help") || ours.includes("-h")
}

function say(text: string): 0 {
  process.stdout.write(text)
  return 0
}

/** Who closes a pipe has read enough; a file that is cut must not pass for a whole one. */
function cutUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || isCut) return
  isCut = true
  process.stderr.write(`pawl: what it printed was not written to its end: ${error.message}.\n`)
  process.exitCode ||= 1
}
