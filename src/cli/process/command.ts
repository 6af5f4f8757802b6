import { type ParseArgsConfig, parseArgs } from "node:util"

/** One command of `pawl`: a file of its own, loaded when it is asked for. */
export interface Command {
  readonly help: string
  /** Does it and says with what exit code the process should end. */
  run(words: readonly string[]): Promise<number>
}

/** Something the person at the keyboard can put right: shown as a sentence, without a stack. */
export class CommandError extends Error {
  override readonly name = "CommandError"
}

/** The flags of a command that takes no other words: one of those may have been meant as a flag, a port or a call for help. */
export function readOnlyFlags<Options extends NonNullable<ParseArgsConfig["options"]>>(
  command: string,
  words: readonly string[],
  options: Options,
) {
  const { values, positionals } = readFlags(command, words, options)
  if (positionals.length > 0)
    throw new CommandError(
      `pawl ${command} takes no "${positionals[0]}". \`pawl ${command} --help\` lists what it takes.`,
    )
  return values
}

/** The flags of a command. What does not fit is refused with the command that explains them. */
export function readFlags<Options extends NonNullable<ParseArgsConfig["options"]>>(
  command: string,
  words: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true })
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const isDash = code === "ERR_PARSE_ARGS_INVALID_OPTION_VALUE" && message.includes("ambiguous")
    const flag = /--[\w-]+/.exec(message)?.[0]
    const problem = isDash
      ? `What begins with a dash is a flag of its own; as the value of ${flag} it is written ${flag}=-3`
      : message.split(/\.\s/)[0]
    throw new CommandError(`${problem}. \`pawl ${command} --help\` lists what it takes.`)
  }
}
