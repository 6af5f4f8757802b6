import { defaultScopes, MAX_TOKEN_DAYS, type Scope, scopes } from "../../../core/protocol/account/sign-in.ts"
import { readFlags, UsageError } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import { reportData, warn } from "../settings/warn.ts"
import { tokenText } from "../../strings/access.ts"
import { usageText } from "../../strings/usage.ts"

export const help = tokenText.help

export async function run(words: readonly string[]): Promise<number> {
  const flags = { user: { type: "string" }, scopes: { type: "string" }, days: { type: "string" } } as const
  const { values, positionals } = readFlags(words, flags)
  const [action, extra] = positionals
  if (action === undefined) throw new UsageError(tokenText.missingAction)
  if (action !== "create") throw new UsageError(tokenText.unknownAction(action))
  if (extra !== undefined) throw new UsageError(usageText.unexpectedArgument(extra))
  if (!values.user) throw new UsageError(tokenText.missingUser)
  const granted = values.scopes === undefined ? defaultScopes : toScopes(values.scopes)
  const days = values.days === undefined ? undefined : toDays(values.days)
  const config = readConfig()
  warn(config)
  reportData(config)
  await using store = await openConfiguredStore(config)
  const now = store.clock.now()
  const person = await store.people.ensure(values.user, now)
  const bounds = days === undefined ? {} : { expiresAt: now + days * 24 * 60 * 60_000 }
  const { token } = await store.people.createToken(person, granted, now, bounds)
  process.stdout.write(`${token}\n`)
  return 0
}

function toScopes(list: string): Scope[] {
  const names = list.split(",").map((name) => name.trim())
  const unknown = names.find((name) => !scopes.some((scope) => scope === name))
  if (unknown !== undefined) throw new UsageError(tokenText.unknownScope(unknown, scopes.join(", ")))
  return [...new Set(names)] as Scope[]
}

function toDays(text: string): number {
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_TOKEN_DAYS) return days
  throw new UsageError(tokenText.badDays(text, MAX_TOKEN_DAYS))
}
