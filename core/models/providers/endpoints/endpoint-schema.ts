import { z } from "zod"
import { isModelId, modelFeatures } from "../../../protocol/models/providers.ts"
import { endpointAddress, endpointKinds } from "./named-endpoint.ts"
import type { Quirks } from "../quirks.ts"

/**
 * An environment variable, in capitals: many keys consist of lower-case letters and digits, and would be taken for a
 * name and shown as missing. Pawl's own secrets are excluded.
 */
const VARIABLE = /^(?!PAWL_|PG|NATS_|MASTER_ENCRYPTION_KEY|DATABASE_URL$)[A-Z_][A-Z0-9_]{0,99}$/
const IS_VARIABLE = "the name of a variable of the environment, in capitals, and none of Pawl's own settings"

/** Headers that the connection sets itself. */
const UNSETTABLE = /^(?:host|connection|content-length|content-type|transfer-encoding|upgrade|te)$/

/** An endpoint in the operator's file. Created on first use, because most servers have no such file. */
export function endpointEntry() {
  const variable = z.string().regex(VARIABLE, {
    message: `must be ${IS_VARIABLE}; the key itself does not stand here`,
  })

  const headerName = z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/, { message: "is not a valid header name" })
    .refine((name) => !UNSETTABLE.test(name), { message: "cannot be set" })

  /** Text with `${VARIABLE}` for environment variables. */
  const headerValue = z
    .string()
    .min(1)
    .max(8000)
    .regex(/^[\x20-\x7e]+$/, { message: "must be plain characters on one line" })
    .refine(
      (text) =>
        [...text.matchAll(/\$\{([^{}]*)\}?/g)].every(([all, name = ""]) => all.endsWith("}") && VARIABLE.test(name)),
      {
        message: `\${…} must hold ${IS_VARIABLE}`,
      },
    )

  const dollars = z.number().min(0).max(1_000_000)

  const ListedId = z.strictObject({
    id: z
      .string()
      .regex(/^[^\s\p{Cc}]{1,200}$/u, { message: "must be what the endpoint calls the model, without spaces" })
      .refine(isModelId, { message: "must have no hidden characters" }),
    alias: z
      .string()
      .regex(/^[\w.:-]{1,100}$/, { message: "must be letters, digits, . : _ and -" })
      .optional(),
    contextTokens: z.int().min(1000).max(100_000_000).optional(),
    features: z.array(z.enum(modelFeatures)).optional(),
    /** Dollars per million tokens. */
    price: z
      .strictObject({ input: dollars, output: dollars, cached: dollars.optional(), cacheWrite: dollars.optional() })
      .optional(),
  })

  const flag = z.boolean().optional()
  const quirks = {
    ...{ countsUnasked: flag, forgetsThinking: flag, shortCallIds: flag, answersResults: flag },
    ...{ takesTurns: flag, refusesBlanks: flag, callsAtWill: flag, thinksInTags: flag, writesLoosely: flag },
  } satisfies {
    // Document names only matter in Bedrock's format, which no such endpoint has.
    readonly [Quirk in Exclude<keyof Required<Quirks>, "numbersFiles">]: typeof flag
  }

  return z
    .strictObject(
      {
        name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, { message: "must be up to 40 small letters, digits and -" }),
        kind: z.enum(endpointKinds),
        baseUrl: z.string().max(2000),
        apiKeyEnv: variable.optional(),
        headers: z.record(headerName, headerValue).default({}),
        models: z.array(ListedId).default([]),
        quirks: z.strictObject(quirks).optional(),
      },
      { error: (issue) => (issue.code === "unrecognized_keys" ? unknownKeys(issue.keys) : undefined) },
    )
    .superRefine(({ kind, baseUrl, apiKeyEnv, headers }, context) => {
      const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message })
      const { username, password } = URL.parse(baseUrl) ?? {}
      if (!endpointAddress(kind, baseUrl)) refuse(["baseUrl"], "must be an address such as https://models.example/v1")
      else if (username || password) refuse(["baseUrl"], "must hold no password: put it into a header")
      const own = kind === "anthropic" ? "x-api-key" : "authorization"
      if (apiKeyEnv && headers[own] !== undefined)
        refuse(["headers", own], "is what apiKeyEnv sends: leave one of them out")
    })
}

function unknownKeys(keys: readonly string[]): string {
  if (keys.includes("apiKey"))
    return "apiKey: keys do not stand in this file; name the variable that has it with apiKeyEnv"
  const known = "name, kind, baseUrl, apiKeyEnv, headers, models, quirks"
  return `there is no ${keys.map((key) => key.slice(0, 40)).join(", ")} here, only ${known}`
}
