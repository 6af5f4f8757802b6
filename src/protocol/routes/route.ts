import type { z } from "zod"
import type { Scope } from "../account/scopes.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * One address of the server: what it takes and what it answers. The server validates with it, the typed client is derived
 * from it, and the OpenAPI document is printed from it, so that the three cannot tell different stories.
 */
export interface Route {
  readonly method: Method
  /** With `{name}` for what varies, as OpenAPI writes it. */
  readonly path: `/${string}`
  /** What the caller's token has to allow; `nobody` for an address that needs no identity. */
  readonly needs: Scope | "nobody"
  /** One sentence for whoever reads the reference. */
  readonly says: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** In place of JSON its body is a file, of one of these types. */
  readonly takes?: readonly string[]
  /** Its body may be as large as a whole workspace, or as a file. */
  readonly large?: "workspace" | "file"
  /** The bodies by status, the usual one first; null for an answer without a body. */
  readonly answers: { readonly [status: number]: z.ZodType | null }
  /** The address can answer as a stream of server-sent events: always, or where `Accept` asks for it. */
  readonly stream?: "always" | "asked"
  /** What it answers instead of JSON. */
  readonly media?: string
  /** What goes wrong is told in the words of a dialect, not as a problem. */
  readonly errors?: "openai"
}

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Values<T> = T[keyof T]

/** What a caller may send, before defaults are filled in. */
export type QueryInput<R extends Route> = Input<R["query"]>
export type BodyInput<R extends Route> = Input<R["body"]>
/** What a handler gets. */
export type Query<R extends Route> = Output<R["query"]>
export type Body<R extends Route> = Output<R["body"]>
/** Every body the address may answer with. */
export type AnswerOf<R extends Route> = Output<Exclude<Values<R["answers"]>, null>> | NullOf<R>
type NullOf<R extends Route> = null extends Values<R["answers"]> ? null : never

/** The names in a path: `/a/{id}/b/{name}` has `id` and `name`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never

/** Keeps the exact type of a table of routes while checking its shape. */
export const defineRoutes = <const Table extends Readonly<Record<string, Route>>>(table: Table): Table => table

/** The status of the usual answer: the first, as numbers are ordered in an object, below 400. */
export const usualStatus = ({ answers }: Route): number => Number(Object.keys(answers)[0])
