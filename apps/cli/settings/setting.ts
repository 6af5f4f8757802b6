import { didYouMean } from "../../../core/engine/calls/read-input.ts"
import { settingsText } from "../../strings/settings.ts"
import { CommandError } from "../process/command.ts"
import { Bad, type SettingKind } from "./kinds.ts"

/** One variable of the environment: what it may hold, what it is for, and what counts without it. */
export interface Setting<Value> {
  readonly kind: SettingKind<Value>
  /** For the reference: what it does, in a sentence or two. */
  readonly says: string
  /** The value without it; undefined where there is none, or where it depends on others. */
  readonly usually: Value | undefined
  /** The same in words, where the value alone would not tell. */
  readonly usuallyInWords?: string
  /** Another name for it that counts before this one. */
  readonly also?: string
  /** What of its text must never be printed. A text that may hold something secret is not repeated in a refusal. */
  readonly secretsIn?: (text: string) => readonly string[]
}

type About<Value> = Omit<Setting<Value>, "kind" | "usually"> & { readonly usually?: Value }

export function setting<Value>(
  kind: SettingKind<Value>,
  about: About<NoInfer<Value>> & { readonly usually: NoInfer<Value> },
): Setting<Value> & { readonly usually: Value }
export function setting<Value>(kind: SettingKind<Value>, about: About<NoInfer<Value>>): Setting<Value>
export function setting<Value>(kind: SettingKind<Value>, about: About<Value>): Setting<Value> {
  return { kind, usually: undefined, ...about }
}

export const theWhole = (text: string): readonly string[] => [text]

/** Of an address only the password is secret, as it stands there and as it is meant; the rest is worth reading in a log. */
export function itsPassword(text: string): readonly string[] {
  const url = URL.parse(text) ?? URL.parse(`http://${text}`)
  // PostgreSQL takes it from behind the question mark, too.
  const asked = [...(url?.search ?? "").matchAll(/[?&]password=([^&]*)/gi)].map(([, password = ""]) => password)
  const all = [url?.password ?? "", ...asked].filter((password) => password !== "")
  return [...new Set(all.flatMap((password) => [password, decoded(password)]))]
}

/** Whether the name and the password of an address are written as in one: a % stands for itself only as %25. */
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
  readonly [Name in keyof Table]: Table[Name] extends { readonly usually: infer Usual } & Setting<infer Value>
    ? undefined extends Usual
      ? Value | undefined
      : Value
    : never
}

/** Every setting of the table as the environment has it. A bad value is refused with what would be allowed. */
export function readSettings<Table extends SettingTable>(table: Table, environment: Environment): SettingValues<Table> {
  const entries = Object.entries(table).map(([name, setting]) => {
    const given = givenText(name, setting, environment)
    if (!given) return [name, setting.usually]
    const value = setting.kind.read(given.text)
    if (value instanceof Bad) throw refusal(given.name, setting, value)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** What must never be printed of all that the environment says. */
export function secretsOf(table: SettingTable, environment: Environment): string[] {
  const all = Object.entries(table).flatMap(([name, setting]) => {
    const given = givenText(name, setting, environment)
    return given ? (setting.secretsIn?.(given.text) ?? []) : []
  })
  return all.filter((secret) => secret !== "")
}

/** Names that no command reads and that are no slip: the programs of our docs find the server by this one. */
const READ_BY_PROGRAMS: readonly string[] = ["PAWL_URL"]

/** Warns of variables that have our prefix and change nothing. Each is one line, with the name that was probably meant. */
export function warnOfUnknownSettings(table: SettingTable, environment: Environment, prefix: string): string[] {
  const known = Object.keys(table).filter((name) => name.startsWith(prefix))
  const isUnknown = (name: string) =>
    name.startsWith(prefix) && !known.includes(name) && !READ_BY_PROGRAMS.includes(name)
  return Object.keys(environment)
    .filter(isUnknown)
    .map((name) => settingsText.unknownSetting(name, didYouMean(name, known)))
}

/** Blank is absent: `PAWL_MODEL=` in a compose file means that there is none. */
function givenText(name: string, { also }: Pick<Setting<unknown>, "also">, environment: Environment) {
  const given = [also, name].find((each) => each !== undefined && environment[each]?.trim())
  return given === undefined ? undefined : { name: given, text: environment[given]?.trim() ?? "" }
}

function refusal(name: string, { kind, secretsIn }: Setting<unknown>, bad: Bad): CommandError {
  const { allowed } = kind
  return new CommandError(
    secretsIn ? settingsText.badHiddenValue(name, allowed) : settingsText.badValue(name, bad.text, allowed),
  )
}

/** Of each server the password; a name alone is a token. */
export function natsSecrets(text: string): readonly string[] {
  return text.split(",").flatMap((each) => {
    const passwords = itsPassword(each.trim())
    const token = URL.parse(each.trim())?.username ?? ""
    return passwords.length > 0 || token === "" ? passwords : [token, decodeURIComponent(token)]
  })
}

/** One server or several, each with its port. */
export function isNats(text: string): boolean {
  const servers = text.split(",").map((each) => each.trim())
  return servers.every(
    (each) => /^(nats|tls):\/\/[^\s/]+\/?$/.test(each) && URL.canParse(each) && hasReadableLogin(each),
  )
}
