import manifest from "../../package.json" with { type: "json" }
import { hasCode } from "../../core/protocol/errors.ts"
import { similarName } from "../../core/engine/calls/read-input.ts"
import { own } from "../../core/shared/text/json.ts"
import { escapeHidden } from "../../core/shared/text/hidden-characters.ts"
import { failureReason } from "../../core/shared/text/system-errors.ts"
import { usageText } from "../strings/usage.ts"
import { type Command, UsageError, usageOf } from "./process/command.ts"

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: () => import("./commands/serve.ts"),
  chat: () => import("./commands/chat.ts"),
  trust: () => import("./commands/trust.ts"),
  skills: () => import("./commands/skills.ts"),
  acp: () => import("./commands/acp.ts"),
  exec: () => import("./commands/exec.ts"),
  eval: () => import("./commands/eval.ts"),
  device: () => import("./commands/device.ts"),
  token: () => import("./commands/token.ts"),
  invite: () => import("./commands/invite.ts"),
  show: () => import("./commands/show.ts"),
  replay: () => import("./commands/replay.ts"),
  crashtest: () => import("./commands/crashtest.ts"),
  ingest: () => import("./commands/ingest.ts"),
  mcp: () => import("./commands/mcp.ts"),
  migrate: () => import("./commands/migrate.ts"),
  "rotate-keys": () => import("./commands/rotate-keys.ts"),
  backup: () => import("./commands/backup.ts"),
  export: () => import("./commands/export.ts"),
  import: () => import("./commands/import.ts"),
  doctor: () => import("./commands/doctor.ts"),
}

// `pawl exec … | head` closes the pipe while we write, and the disk of an output file or log may fill up. The command still
// runs to its end, and a server continues without its log until there is space again.
let isCut = false
process.stdout.on("error", cutUnlessClosed)
process.stderr.on("error", () => {})

process.exitCode = (await main(process.argv.slice(2))) || (isCut ? 1 : 0)

async function main([name, ...words]: readonly string[]): Promise<number> {
  if (name === "--version" || name === "-v") return print(`${manifest.version}\n`)
  if (name === "help" && words[0] === "settings") return print((await import("./settings/reference.ts")).settingsHelp())
  if (name === "help" && words[0] !== undefined) return main([words[0], "--help"])
  if (name === undefined || name === "--help" || name === "-h" || name === "help") return print(usageText.help)
  const load = own(commands, name)
  if (!load) {
    process.stderr.write(
      escapeHidden(usageText.error(usageText.unknownCommand(name, similarName(name, Object.keys(commands))))),
    )
    return 1 // Wrong usage, as in every command. In `exec` and `eval`, 2 means something else.
  }
  // Files that a command creates are private. These commands also write the user's own files, with the usual modes.
  if (!["chat", "exec", "acp"].includes(name)) process.umask(0o077)
  let help = ""
  try {
    const command = await load()
    help = command.help
    return asksForHelp(words) ? print(help) : await command.run(words)
  } catch (error) {
    const text =
      error instanceof UsageError
        ? usageText.wrongUsage(error.message, usageOf(help, words), name)
        : usageText.error(await messageOf(error))
    // A message may quote an argument or a file name that contains control characters.
    process.stderr.write(escapeHidden(text))
    // Work that a pack started while it was loaded may never end, and nothing else can stop it.
    if (hasCode(error, "pack_refused")) process.exit(1)
    return 1
  }
}

/** A bug is printed with its stack. */
async function messageOf(error: unknown): Promise<string> {
  const { errorText } = await import("./process/error-text.ts")
  return (await errorText(error)) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error))
}

/** Words after `--` are a request or the arguments of another program. */
function asksForHelp(words: readonly string[]): boolean {
  const ours = words.includes("--") ? words.slice(0, words.indexOf("--")) : words
  return ours.includes("--help") || ours.includes("-h")
}

function print(text: string): 0 {
  process.stdout.write(text)
  return 0
}

/** A reader that closes its pipe has read enough, but an incomplete file must be reported. */
function cutUnlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || isCut) return
  isCut = true
  process.stderr.write(usageText.error(usageText.outputCut(failureReason(error))))
  process.exitCode ||= 1
}
