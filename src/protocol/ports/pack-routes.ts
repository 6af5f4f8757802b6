import type { z } from "zod"
import type { UserId } from "../ids.ts"
import type { Method } from "../routes/route.ts"
import type { Scope } from "../account/scopes.ts"

/** An address that a pack adds to the server, below `/api/packs/<pack>`: like one of the server's own, with who answers it. */
export interface PackRoute<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Method
  /** Below `/api/packs/<pack>`, with `{name}` for what varies. */
  readonly path: `/${string}`
  /** What the caller's token has to allow. There is no address of a pack for strangers. */
  readonly needs: Exclude<Scope, "self-approve">
  /** One sentence for whoever reads the reference. */
  readonly says: string
  readonly query?: Query
  readonly body?: Body
  /** What it answers with 200, checked before it is sent; null for 204 and no body. */
  readonly answer: Answer | null
  handle(
    request: PackRequest<z.output<Query>, z.output<Body>>,
  ): Promise<z.input<Answer> | null> | z.input<Answer> | null
}

/** A request that has been let in and checked. */
export interface PackRequest<Query = unknown, Body = unknown> {
  /** Who asks. Identity comes from the credential only, never from what is sent. */
  readonly caller: { readonly id: UserId; readonly name: string }
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  /** Aborts when whoever asked is gone. */
  readonly signal: AbortSignal
}

/** A route with the pack that it is of. */
export interface NamedPackRoute extends PackRoute {
  readonly pack: string
  /** As the reference names it. */
  readonly name: string
}

/** Keeps the types of what a route takes between its schemas and its handler. */
export const defineRoute = <Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
  route: PackRoute<Query, Body, Answer>,
): PackRoute => route as unknown as PackRoute
