import { userInfo } from "node:os"
import { type ParseArgsConfig, parseArgs } from "node:util"
import { similarName } from "../../../core/engine/calls/read-input.ts"
import { connectionText } from "../../strings/serve.ts"
import { usageText } from "../../strings/usage.ts"

/** One command of `pawl`, in a file of its own that is loaded when the command is used. */
export interface Command {
  readonly help: string
  /** Runs the command and resolves to the exit code of the process. */
  run(words: readonly string[]): Promise<number>
}

/** An error that the user can fix. It is printed as a sentence, without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError"
}

/** Wrong usage of a command. It is printed with the usage line that fits best. */
export class UsageError extends CommandError {
  override readonly name = "UsageError"
}

/** The lines of a help text that show how to call the command; only one form if the first word selects it. */
export function usageOf(help: string, [form]: readonly string[]): string {
  const usage = help.slice(0, help.indexOf("\n\n"))
  // A line that is indented further continues the form before it.
  const forms = usage.split(/\n {7}(?! )/)
  const [, command = ""] = /^Usage: pawl (\S+)/.exec(usage) ?? []
  const selected = forms.filter((each) => each.replace("Usage: ", "").startsWith(`pawl ${command} ${form} `))
  if (form === undefined || selected.length === 0) return usage
  return `Usage: ${selected.map((each) => each.replace("Usage: ", "")).join("\n       ")}`
}

/** The options of a command that takes no arguments. */
export function readOnlyFlags<Options extends NonNullable<ParseArgsConfig["options"]>>(
  words: readonly string[],
  options: Options,
) {
  const { values, positionals } = readFlags(words, options)
  const [argument] = positionals
  if (argument !== undefined) throw new UsageError(usageText.unexpectedArgument(argument))
  return values
}

/** The options and arguments of a command. Throws a `UsageError` if an option is unknown or malformed. */
export function readFlags<Options extends NonNullable<ParseArgsConfig["options"]>>(
  words: readonly string[],
  options: Options,
) {
  try {
    const read = parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
    // A shell makes one of a variable that is not set. No option means anything without a value.
    const blank = Object.entries(read.values).find(([, value]) => [value].flat().some((each) => each === ""))
    if (blank) throw new UsageError(usageText.missingValue(`--${blank[0]}`))
    return read
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { message, code } = error as NodeJS.ErrnoException
    const [option = ""] = /--[\w-]+/.exec(message) ?? /-\w/.exec(message) ?? []
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
      const nearest = similarName(option.replace(/^-+/, ""), Object.keys(options))
      throw new UsageError(usageText.unknownOption(option, nearest === undefined ? undefined : `--${nearest}`))
    }
    if (message.includes("ambiguous")) throw new UsageError(usageText.valueStartsWithDash(option))
    throw new UsageError(
      message.includes("does not take") ? usageText.noValueAllowed(option) : usageText.missingValue(option),
    )
  }
}

/** Aborts at the first request to stop. A second one means at once. */
export function onStop(): AbortSignal {
  const controller = new AbortController()
  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(code)
      controller.abort()
    })
  }
  return controller.signal
}

/** The user of this machine. A container may run as a user without a name. */
export function userName(): string {
  try {
    return userInfo().username || "owner"
  } catch {
    return "owner"
  }
}

/** The address that `--server` names. */
export function toUrl(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`
  throw new CommandError(connectionText.badServer(text))
}
