import { z } from "zod"
import { ConversationDetail, ProblemAnswer, RunAnswer, StateAnswer } from "../../../protocol/answers.ts"
import { ConversationView } from "../../../protocol/conversation/conversation.ts"
import { feedFrames, frames } from "../../../protocol/frames.ts"
import { Message } from "../../../protocol/conversation/message.ts"
import { OpenAiError } from "../../../protocol/dialects/openai.ts"
import { Proposal } from "../../../protocol/proposals/proposal.ts"
import type { Route } from "../../../protocol/routes/route.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { Run } from "../../../protocol/conversation/run.ts"

type Json = Record<string, unknown>

/** What appears under a name of its own; everything else is written out where it is used. */
const named = {
  Conversation: ConversationView,
  ConversationDetail,
  Message,
  Proposal,
  Run,
  RunAnswer,
  State: StateAnswer,
  Problem: ProblemAnswer,
}

/** The reference for programs, OpenAPI 3.1, printed from the very schemas that requests are checked with (OPEN-01). */
export function toOpenApi(version: string, added: Readonly<Record<string, Route>> = {}): Json {
  const printer = new Printer()
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries<Route>({ ...routes, ...added })) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: printer.operation(name, route) }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Pawl", version, description: "An agent server. Errors are problem JSON with a stable `code`." },
    security: [{ bearer: [] }, { session: [], page: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: "pawl_session_{port}" },
        page: { type: "apiKey", in: "header", name: "X-Pawl-Session" },
      },
      schemas: printer.components(),
    },
  }
}

class Printer {
  readonly #registry = z.registry<{ id: string }>()
  readonly #schemas: Record<string, unknown> = {}

  constructor() {
    for (const [id, schema] of Object.entries(named)) this.#registry.add(schema, { id })
    this.#schemas.Frame = { oneOf: Object.entries(frames).map(([type, data]) => this.#frame(type, data)) }
    this.#schemas.FeedFrame = { oneOf: Object.entries(feedFrames).map(([type, data]) => this.#frame(type, data)) }
  }

  components(): Json {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  operation(operationId: string, route: Route): Json {
    const { says, needs, body, takes } = route
    const file =
      takes && Object.fromEntries(takes.map((type) => [type, { schema: { type: "string", format: "binary" } }]))
    return {
      operationId,
      summary: says,
      ...(needs === "nobody" ? { security: [] } : { description: `Needs the scope \`${needs}\`.` }),
      parameters: [...pathParameters(route.path), ...this.#queryParameters(route.query)],
      ...(body ? { requestBody: { content: { "application/json": { schema: this.#print(body, "input") } } } } : {}),
      ...(file ? { requestBody: { required: true, content: file } } : {}),
      responses: this.#responses(route),
    }
  }

  #responses(route: Route): Json {
    const { answers, stream, media = "application/json" } = route
    const events = { "text/event-stream": { schema: { $ref: streamOf(route) } } }
    const listed = Object.entries(answers).map(([status, schema], index) => {
      const content = {
        ...(schema ? { [media]: { schema: this.#print(schema, "output") } } : {}),
        ...(stream && index === 0 ? events : {}),
      }
      return [
        status,
        { description: describe(Number(status)), ...(Object.keys(content).length > 0 ? { content } : {}) },
      ]
    })
    if (stream && listed.length === 0) listed.push(["200", { description: describe(200), content: events }])
    const problem =
      route.errors === "openai"
        ? { "application/json": { schema: this.#print(OpenAiError, "output") } }
        : { "application/problem+json": { schema: this.#print(ProblemAnswer, "output") } }
    return { ...Object.fromEntries(listed), default: { description: "What went wrong.", content: problem } }
  }

  #queryParameters(query: z.ZodType | undefined): Json[] {
    if (!query) return []
    const { properties = {} } = this.#print(query, "input") as { properties?: Record<string, Json> }
    return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }))
  }

  #frame(type: string, data: z.ZodType): Json {
    const properties = { id: { type: "string" }, type: { const: type }, data: this.#print(data, "output") }
    return { type: "object", properties, required: Object.keys(properties) }
  }

  #print(schema: z.ZodType, io: "input" | "output"): Json {
    const {
      $schema: _,
      $defs,
      ...json
    } = z.toJSONSchema(schema, {
      io,
      metadata: this.#registry,
      unrepresentable: "any",
      override: ({ jsonSchema, path }) => {
        // An answer may gain fields: whoever is strict about it would break with the next release.
        if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
        if (path.length > 0) delete jsonSchema.$schema
      },
    }) as Json
    for (const [name, definition] of Object.entries(($defs as Record<string, Json> | undefined) ?? {})) {
      this.#schemas[name] = pointed(definition)
    }
    const id = this.#registry.get(schema)?.id
    if (id === undefined) return pointed(json) as Json
    // One with a name may be printed as a pointer to its definition, which stands there by now: it must not point to itself.
    if (json.$ref === undefined) this.#schemas[id] = pointed(json)
    return { $ref: `#/components/schemas/${id}` }
  }
}

/** Named schemas stand in one place in an OpenAPI document, and `id` is not a word of it. */
function pointed(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(pointed)
  if (typeof json !== "object" || json === null) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) => {
      if (key === "id" && typeof value === "string") return []
      if (key === "$ref") return [[key, String(value).replace("#/$defs/", "#/components/schemas/")]]
      return [[key, pointed(value)]]
    }),
  )
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } }
  })
}

const streamOf = ({ path }: Route) => `#/components/schemas/${path === "/api/feed" ? "FeedFrame" : "Frame"}`

function describe(status: number): string {
  const words: Record<number, string> = {
    101: "From here on it is a socket.",
    201: "Made.",
    202: "Kept; it will be answered later.",
    204: "Done.",
  }
  return words[status] ?? "The answer."
}
