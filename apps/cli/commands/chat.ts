import { realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import type { ReadStream, WriteStream } from "node:tty"
import type { Mode } from "../../../core/protocol/schema.ts"
import { drawFirstPrompt } from "../../terminal/screen/erase-below.ts"
import type { StartChoices, TerminalServer, TrustQuestion } from "../../terminal/terminal-server.ts"
import { CommandError, readFlags, UsageError } from "../process/command.ts"
import { silentLog } from "../../../core/shared/log.ts"
import { chatCommandText, chatText } from "../../strings/chat.ts"
import { optionText } from "../../strings/exec.ts"

export const help = chatCommandText.help

/** A copy of the protocol's list: its schemas take longer to load than the prompt. */
const modes: readonly Mode[] = ["read-only", "confirm", "auto"]

const flags = {
  continue: { type: "boolean", short: "c" },
  conversation: { type: "string" },
  mode: { type: "string" },
  model: { type: "string" },
  set: { type: "string", multiple: true },
  agent: { type: "string" },
  dir: { type: "string" },
  trust: { type: "boolean" },
  "no-rules": { type: "boolean" },
  server: { type: "string" },
  token: { type: "string" },
} as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals.length > 0) throw new UsageError(chatCommandText.takesNoRequest)
  const mode = values.mode === undefined ? undefined : modes.find((each) => each === values.mode)
  if (values.mode !== undefined && !mode) throw new UsageError(optionText.badMode(values.mode, modes))
  if (values.conversation !== undefined && values.continue) throw new UsageError(chatCommandText.oneConversation)
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) throw new CommandError(chatCommandText.needsTerminal)
  const choices: Partial<StartChoices> = {
    agent: values.agent,
    model: values.model,
    ...(mode ? { mode } : {}),
    // Loaded on demand: its schemas take longer to load than the prompt.
    ...(values.set ? { settings: (await import("../settings/reply-settings.ts")).settingsOfFlags(values.set) } : {}),
  }
  const streams = { stdin: stdin as ReadStream, stdout: stdout as WriteStream }
  const removeFirstPrompt = drawFirstPrompt(streams.stdin, streams.stdout)
  const { runTerminal } = await import("../../terminal/run-terminal.ts")
  const left = await runTerminal({
    ...streams,
    removeFirstPrompt,
    choices,
    continueWith: values.conversation ?? values.continue ?? false,
    trust: () => trustQuestion(values),
    connect: () => connect(values),
  })
  // An opening connection may wait forever, and nothing has been started that could be interrupted.
  if (!left) process.exit(0)
  if (left.conversation !== undefined) stdout.write(chatCommandText.continueHint)
  if (values.server === undefined) {
    const [{ readConfig }, { reportData }] = await Promise.all([
      import("../settings/config.ts"),
      import("../settings/warn.ts"),
    ])
    // Printed at the end: at the start it would be one more line above each first prompt.
    reportData(readConfig())
  }
  return 0
}

interface Where {
  readonly dir?: string | undefined
  readonly server?: string | undefined
  readonly token?: string | undefined
  readonly agent?: string | undefined
  readonly trust?: boolean | undefined
  readonly "no-rules"?: boolean | undefined
}

/** Asks whether to trust the folder, or rules of it that have changed, if the agent uses its files. */
async function trustQuestion(values: Where): Promise<TrustQuestion | undefined> {
  const { dir, agent = "files", trust, "no-rules": noRules } = values
  const [{ readConfig }, { TrustedFolders }] = await Promise.all([
    import("../settings/config.ts"),
    import("../open/trusted-folders.ts"),
  ])
  const folder = resolve(dir ?? ".")
  const folders = new TrustedFolders(readConfig().dataFolder)
  if (trust) folders.answer(folder, true)
  if (agent !== "files") return undefined
  if (folders.answerFor(folder) === undefined)
    return { text: chatText.trustQuestion(folder), answer: (isTrusted) => folders.answer(folder, isTrusted) }
  const { changed } = folders.rulesOf(folder).ofFolder
  if (noRules || changed.length === 0) return undefined
  return { text: chatText.rulesQuestion(changed), answer: (isYes) => isYes && folders.acceptRules(folder) }
}

/** Called after the prompt is visible, because the server takes longer to load. */
async function connect({ dir, server, token, agent = "files", "no-rules": noRules }: Where): Promise<TerminalServer> {
  const [
    { readConfig, readReflow },
    { forgetSecrets },
    { openClient },
    { foldersIn },
    { RecentSecrets },
    { TrustedFolders },
  ] = await Promise.all([
    import("../settings/config.ts"),
    import("../process/forget-secrets.ts"),
    import("../open/client.ts"),
    import("../open/folder-conversations.ts"),
    import("../../../core/models/providers/errors/recent-secrets.ts"),
    import("../open/trusted-folders.ts"),
  ])
  const config = readConfig(undefined, { PAWL_TOKEN: token, PAWL_PROJECT_RULES: noRules ? "off" : undefined })
  forgetSecrets(config.secrets)
  const recent = new RecentSecrets(config.secrets)
  const folder = resolve(dir ?? ".")
  const place = await openClient(config, { log: silentLog, recent, dir: folder, server, isOperator: true })
  const { client, newest, inFolder, resume, conversationDefaults } = place
  const folders = new TrustedFolders(config.dataFolder)
  const isTrusted = folders.answerFor(folder) ?? false
  const showsRules = config.projectRules && agent === "files" && server === undefined
  return {
    client,
    workFolder: { root: realpathSync(folder), isTrusted },
    where: server === undefined ? folder : chatText.place(folder, server),
    warnings: config.warnings,
    rules: showsRules ? folders.rulesOf(folder).ofFolder.files.map(({ path }) => path) : [],
    reflow: readReflow(),
    historyFile: join(config.dataFolder, "chat-history"),
    defaults: { agent: "files", ...conversationDefaults },
    folders: () => foldersIn(config.dataFolder),
    newest,
    inFolder,
    entered: resume,
    close: async () => place[Symbol.asyncDispose](),
  }
}

/** The conversation reports failed runs, so the log must not write to the screen. */
