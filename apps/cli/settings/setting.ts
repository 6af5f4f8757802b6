import { didYouMean } from "../../../core/engine/calls/read-input.ts"
import { settingsText } from "../../strings/settings.ts"
import { CommandError } from "../process/command.ts"
import { Bad, type SettingKind } from "./kinds.ts"

/** A variable of the environment: what it may contain, what it is for, and its default. */
export interface Setting<Value> {
  readonly kind: SettingKind<Value>
  /** A sentence or two for the reference. */
  readonly description: string
  /** The default; undefined if there is none, or if it depends on other settings. */
  readonly defaultValue: Value | undefined
  /** The default as text, if the value alone is not clear. */
  readonly defaultText?: string
  /** Another name, which takes precedence. */
  readonly also?: string
  /**
   * The parts of its text that must never be printed. A text that may contain a secret is not repeated in a refusal.
   */
  readonly secretsIn?: (text: string) => readonly string[]
}

type About<Value> = Omit<Setting<Value>, "kind" | "defaultValue"> & { readonly defaultValue?: Value }

export function setting<Value>(
  kind: SettingKind<Value>,
  about: About<NoInfer<Value>> & { readonly defaultValue: NoInfer<Value> },
): Setting<Value> & { readonly defaultValue: Value }
export function setting<Value>(kind: SettingKind<Value>, about: About<NoInfer<Value>>): Setting<Value>
export function setting<Value>(kind: SettingKind<Value>, about: About<Value>): Setting<Value> {
  return { kind, defaultValue: undefined, ...about }
}

export const wholeText = (text: string): readonly string[] => [text]

/** The secret of an address is its password, encoded and decoded; the rest is useful in a log. */
export function passwordsIn(text: string): readonly string[] {
  const url = URL.parse(text) ?? URL.parse(`http://${text}`)
  // PostgreSQL also accepts it as a query parameter.
  const asked = [...(url?.search ?? "").matchAll(/[?&]password=([^&]*)/gi)].map(([, password = ""]) => password)
  const all = [url?.password ?? "", ...asked].filter((password) => password !== "")
  return [...new Set(all.flatMap((password) => [password, decoded(password)]))]
}

/** Whether the name and password of an address are encoded correctly: a literal % must be %25. */
export function hasReadableLogin(text: string): boolean {
  const { username = "", password = "" } = URL.parse(text) ?? {}
  try {
    decodeURIComponent(`${username}:${password}`)
    return true
  } catch {
    return false
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type Environment = Readonly<Record<string, string | undefined>>
// oxlint-disable-next-line typescript/no-explicit-any -- of whatever value: a table has settings of all kinds
export type SettingTable = Readonly<Record<string, Setting<any>>>

export type SettingValues<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly defaultValue: infer Usual } & Setting<infer Value>
    ? undefined extends Usual
      ? Value | undefined
      : Value
    : never
}

/** Reads all settings of a table from the environment. A bad value is refused with what would be allowed. */
export function readSettings<Table extends SettingTable>(table: Table, environment: Environment): SettingValues<Table> {
  const entries = Object.entries(table).map(([name, setting]) => {
    const entry = givenText(name, setting, environment)
    if (!entry) return [name, setting.defaultValue]
    const value = setting.kind.read(entry.text)
    if (value instanceof Bad) throw refusal(entry.name, setting, value)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** The parts of the environment that must never be printed. */
export function secretsOf(table: SettingTable, environment: Environment): string[] {
  const all = Object.entries(table).flatMap(([name, setting]) => {
    const entry = givenText(name, setting, environment)
    return entry ? (setting.secretsIn?.(entry.text) ?? []) : []
  })
  return all.filter((secret) => secret !== "")
}

/** Names that no command reads but that are no mistake: the programs of our docs find the server with this one. */
const READ_BY_PROGRAMS: readonly string[] = ["PAWL_URL"]

/** Warns of variables with our prefix that have no effect. Each is one line, with the name that was probably meant. */
export function warnOfUnknownSettings(table: SettingTable, environment: Environment, prefix: string): string[] {
  const known = Object.keys(table).filter((name) => name.startsWith(prefix))
  const isUnknown = (name: string) =>
    name.startsWith(prefix) && !known.includes(name) && !READ_BY_PROGRAMS.includes(name)
  return Object.keys(environment)
    .filter(isUnknown)
    .map((name) => settingsText.unknownSetting(name, didYouMean(name, known)))
}

/** A blank value counts as absent: `PAWL_MODEL=` in a compose file means that there is none. */
function givenText(name: string, { also }: Pick<Setting<unknown>, "also">, environment: Environment) {
  const entry = [also, name].find((each) => each !== undefined && environment[each]?.trim())
  return entry === undefined ? undefined : { name: entry, text: environment[entry]?.trim() ?? "" }
}

function refusal(name: string, { kind, secretsIn }: Setting<unknown>, bad: Bad): CommandError {
  const { allowed } = kind
  return new CommandError(
    secretsIn ? settingsText.badHiddenValue(name, allowed) : settingsText.badValue(name, bad.text, allowed),
  )
}

/** The password of each server; a name alone is a token. */
export function natsSecrets(text: string): readonly string[] {
  return text.split(",").flatMap((each) => {
    const passwords = passwordsIn(each.trim())
    const token = URL.parse(each.trim())?.username ?? ""
    return passwords.length > 0 || token === "" ? passwords : [token, decodeURIComponent(token)]
  })
}

/** One or several servers, each with a port. */
export function isNats(text: string): boolean {
  const servers = text.split(",").map((each) => each.trim())
  return servers.every(
    (each) => /^(nats|tls):\/\/[^\s/]+\/?$/.test(each) && URL.canParse(each) && hasReadableLogin(each),
  )
}
