import type { z } from "zod"
import type { Scope } from "../account/sign-in.ts"

/** The HTTP method of a route. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * One HTTP route: its method, path, parameters, body and responses. The server validates requests with it, the typed
 * client is derived from it, and the OpenAPI document is generated from it, so that all three agree.
 */
export interface Route {
  readonly method: Method
  /** With `{name}` for parameters, as in OpenAPI. */
  readonly path: `/${string}`
  /** The scope that the caller's token needs; `nobody` for a route without authentication. */
  readonly needs: Scope | "nobody"
  /** One sentence for the API reference. */
  readonly says: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  /** The media types of a request body that is a file instead of JSON. */
  readonly takes?: readonly string[]
  /** The last path parameter may contain slashes. */
  readonly slashes?: true
  /** The body may be as large as a whole workspace or a file. `images`: bodies are rarely large, only with images. */
  readonly large?: "workspace" | "file" | "images"
  /** The response bodies by status, the usual one first; null for a response without a body. */
  readonly answers: { readonly [status: number]: z.ZodType | null }
  /** The route can respond with server-sent events: always, or if `Accept` asks for it. */
  readonly stream?: "always" | "asked"
  /** The media type of a response that is not JSON. */
  readonly media?: string
  /** Errors have the format of a dialect, not problem JSON. */
  readonly errors?: "openai"
}

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined
type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Values<T> = T[keyof T]

/** The query parameters that a caller passes to a route, before defaults are applied. */
export type QueryInput<R extends Route> = Input<R["query"]>
/** The request body that a caller passes to a route, before defaults are applied. */
export type BodyInput<R extends Route> = Input<R["body"]>
/** The query parameters that the handler of a route receives, validated and with defaults. */
export type Query<R extends Route> = Output<R["query"]>
/** The request body that the handler of a route receives, validated and with defaults. */
export type Body<R extends Route> = Output<R["body"]>
/** The response body of a route; a union if it has several, and null for a response without a body. */
export type AnswerOf<R extends Route> = Output<Exclude<Values<R["answers"]>, null>> | NullOf<R>
type NullOf<R extends Route> = null extends Values<R["answers"]> ? null : never

/** The parameters of a path: `/a/{id}/b/{name}` has `id` and `name`. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never

/** Returns a table of routes with its exact type. The form of each route is checked by the compiler. */
export const defineRoutes = <const Table extends Readonly<Record<string, Route>>>(table: Table): Table => table

/** Returns the status of a route's successful response: its lowest status. */
export const successStatus = ({ answers }: Route): number => Number(Object.keys(answers)[0])
