import { CommandError } from "../process/command.ts"

interface Range {
  readonly least: number
  readonly most: number
  readonly whole?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** Environment variables by what they may hold. Blank is absent: `PAWL_MODEL=` in a compose file means that there is none. */
export class VariableReader {
  readonly #environment: Environment
  readonly #asked = new Set<string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  text(name: string, pattern = /^/, allowed = "text"): string | undefined {
    this.#asked.add(name)
    const value = this.#environment[name]?.trim()
    if (!value) return undefined
    if (!pattern.test(value)) throw refuse(name, `"${value}"`, allowed)
    return value
  }

  /** Like a text, but never repeated in an error. */
  secret(name: string, pattern: Pick<RegExp, "test">, allowed: string): string | undefined {
    const value = this.text(name)
    if (value !== undefined && !pattern.test(value)) throw refuse(name, "its value (hidden, it may be secret)", allowed)
    return value
  }

  number(name: string, { least, most, whole = false }: Range): number | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const number = Number(value)
    if (number >= least && number <= most && (!whole || Number.isInteger(number))) return number
    throw refuse(name, `"${value}"`, `a ${whole ? "whole " : ""}number from ${least} to ${most}`)
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.text(name)
    const found = choices.find((choice) => choice === value)
    if (value !== undefined && found === undefined) throw refuse(name, `"${value}"`, choices.join(" or "))
    return found
  }

  flag(name: string): boolean | undefined {
    const value = this.text(name)?.toLowerCase()
    if (value === undefined) return undefined
    if (["1", "true", "yes", "on"].includes(value)) return true
    if (["0", "false", "no", "off"].includes(value)) return false
    throw refuse(name, `"${value}"`, "1 or 0, true or false, yes or no, on or off")
  }

  url(name: string): string | undefined {
    const value = this.text(name)
    if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? "")) return value
    throw refuse(name, `"${value}"`, "an address such as https://pawl.example")
  }

  list(name: string, isGood: (item: string) => boolean, allowed: string): string[] {
    const items = (this.text(name) ?? "").split(",").map((item) => item.trim())
    const given = items.filter((item) => item !== "")
    const bad = given.find((item) => !isGood(item))
    if (bad !== undefined) throw refuse(name, `"${bad}"`, allowed)
    return given
  }

  /** One sentence for each variable with this prefix that nobody has asked for. */
  unknown(prefix: string, alsoKnown: readonly string[]): string[] {
    const known = [...this.#asked, ...alsoKnown].filter((name) => name.startsWith(prefix)).sort()
    const strange = Object.keys(this.#environment).filter((name) => name.startsWith(prefix) && !known.includes(name))
    return strange.map((name) => `${name} is no setting of Pawl and changes nothing. There are: ${known.join(", ")}.`)
  }
}

function refuse(name: string, value: string, allowed: string): CommandError {
  return new CommandError(`${name} cannot be ${value}. Allowed: ${allowed}.`)
}
