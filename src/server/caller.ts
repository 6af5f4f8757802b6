import type { Context, MiddlewareHandler } from "hono"
import { failure } from "../protocol/errors.ts"
import type { Scope } from "../protocol/scopes.ts"
import type { Caller, People } from "./ports.ts"

/** What every route behind the door finds in its context. */
export interface Env {
  Variables: { caller: Caller; requestId: string; route: string | undefined }
}

/** Finds out who is asking, or refuses. */
export function identify(people: People): MiddlewareHandler<Env> {
  return async (c, next) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "") ?? []
    const caller = token === undefined ? undefined : await people.byToken(token)
    if (!caller) throw failure("unauthenticated")
    c.set("caller", caller)
    await next()
  }
}

/** Lets through only whoever holds the scope. */
export function demand(c: Context<Env>, scope: Scope): void {
  if (!c.get("caller").scopes.has(scope)) throw failure("forbidden", { scope })
}

export const userOf = (c: Context<Env>) => c.get("caller").person.id
