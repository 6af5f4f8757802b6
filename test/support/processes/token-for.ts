import { join } from "node:path"
import { type Scope, defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import { openStore } from "../../../core/store/store.ts"

/** The settings that name the data of a process. */
interface Kept {
  readonly PAWL_DATA?: string
  readonly DATABASE_URL?: string
}

/** Returns what `pawl token create` prints, without starting a process: saves half a second for each token. */
export async function tokenFor(
  environment: Kept,
  user = "ada",
  scopes: readonly Scope[] = defaultScopes,
): Promise<string> {
  const { PAWL_DATA = "", DATABASE_URL = `file:${join(PAWL_DATA, "pawl.db")}` } = environment
  await using store = await openStore({ url: DATABASE_URL, durability: "normal" })
  const person = await store.people.ensure(user, Date.now())
  return (await store.people.createToken(person, scopes, Date.now())).token
}
