import { defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import { UsageError, readFlags, toUrl } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { openConfiguredStore } from "../../../core/compose/open-store.ts"
import { baseUrl, toLink } from "../../../core/compose/settings.ts"
import { reportData, warn } from "../settings/warn.ts"
import { inviteText } from "../../strings/access.ts"
import { usageText } from "../../strings/usage.ts"

export const help = inviteText.help

const flags = { user: { type: "string" }, admin: { type: "boolean" }, server: { type: "string" } } as const

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  if (positionals[0] !== undefined) throw new UsageError(usageText.unexpectedArgument(positionals[0]))
  if (!values.user) throw new UsageError(inviteText.missingUser)
  const config = readConfig()
  warn(config)
  reportData(config)
  const base = values.server === undefined ? baseUrl(config) : toUrl(values.server)
  await using store = await openConfiguredStore(config)
  const person = await store.people.ensure(values.user, store.clock.now())
  const granted = values.admin ? [...defaultScopes, "admin" as const] : defaultScopes
  process.stdout.write(`${toLink(base, await store.sessions.createLink(person, granted, store.clock.now()))}\n`)
  return 0
}
