import { defaultScopes, type Scope } from "../protocol/account/sign-in.ts"
import { failure } from "../protocol/errors.ts"
import { isId, type TokenId, type UserId } from "../protocol/ids.ts"
import { erasePerson } from "../server/conversation/erase.ts"
import { check } from "../server/request/read-input.ts"
import { ConversationQuery } from "../protocol/requests.ts"
import { TokenSchema } from "./option-schemas.ts"
import { type Page, type Parts, portsOf, untilClosed } from "./parts.ts"

/** A user, with conversations, proposals and data of their own. */
export interface UserRecord {
  readonly id: UserId
  readonly name: string
}

/** The users of this instance. */
export interface People {
  /** Creates a user, or returns the one with this name. */
  create(name: string): Promise<UserRecord>
  /** Returns the user with this name or id. Throws `person_unknown` if there is none. */
  get(nameOrId: string): Promise<UserRecord>
  /** Lists the users, newest first. */
  list(page?: { readonly cursor?: string; readonly limit?: number }): Promise<Page<UserRecord>>
  /** Stops the runs of a user and deletes the account with all its data, permanently. */
  erase(nameOrId: string): Promise<void>
}

/** Options of `tokens.create`. */
export interface TokenOptions {
  /** The name or id of the user that the token signs in. */
  readonly user: string
  /** The permissions of the token. Default: `read`, `chat`, `approve` and `manage`. */
  readonly scopes?: readonly Scope[]
  /** A name for lists of tokens. */
  readonly name?: string
  /** In how many days the token expires. Default: never. */
  readonly days?: number
}

/** A new token. Its text is returned only here; the store has a hash. */
export interface NewToken {
  readonly id: TokenId
  readonly token: string
}

/** A token in a list, without its text. */
export interface TokenRecord {
  readonly id: TokenId
  readonly name: string | null
  readonly scopes: readonly Scope[]
  readonly createdAt: string
  readonly expiresAt: string | null
}

/** Tokens with which programs send requests as a user: `Authorization: Bearer …`. */
export interface Tokens {
  create(options: TokenOptions): Promise<NewToken>
  /** Lists the valid tokens of a user, newest first. */
  list(user: string, page?: { readonly cursor?: string; readonly limit?: number }): Promise<Page<TokenRecord>>
  /** Revokes a token. Its open streams end within 5 seconds. Throws `not_found` if it is not a valid token of this user. */
  revoke(user: string, id: string): Promise<void>
}

const DAY_MS = 86_400_000

/** Returns the user with this name or id. Throws `person_unknown` if there is none. */
export async function findUser({ store }: Parts, nameOrId: string): Promise<UserRecord> {
  const found = await store.people.find(nameOrId)
  if (!found) throw failure("person_unknown", { person: String(nameOrId).slice(0, 100) })
  return found
}

export function openPeople(parts: Parts): People {
  const { people, clock } = parts.store
  return untilClosed<People>(parts, {
    create: (name) => people.ensure(name, clock.now()),
    get: (nameOrId) => findUser(parts, nameOrId),
    list: async (page = {}) => people.list(check(ConversationQuery, page)),
    erase: async (nameOrId) => erasePerson(portsOf(parts), (await findUser(parts, nameOrId)).id),
  })
}

export function openTokens(parts: Parts): Tokens {
  const { people, clock } = parts.store
  return untilClosed<Tokens>(parts, {
    async create(options) {
      const { user, scopes, name, days } = check(TokenSchema, options)
      const now = clock.now()
      const expiresAt = days == null ? null : now + days * DAY_MS
      return people.createToken(await findUser(parts, user), [...new Set(scopes ?? defaultScopes)], now, {
        name: name ?? null,
        expiresAt,
      })
    },
    list: async (user, page = {}) =>
      people.listTokens((await findUser(parts, user)).id, check(ConversationQuery, page), clock.now()),
    async revoke(user, id) {
      if (!isId("tok", id)) throw failure("not_found")
      await people.revokeToken(await findUser(parts, user), id, clock.now())
    },
  })
}
