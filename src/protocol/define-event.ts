import { z } from "zod"
import { EVENT_VERSION } from "./event-version.ts"
import { lazily } from "./lazily.ts"

/** A type of row of the journal, with what every row has. */
export const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: () => Shape) =>
  lazily(() =>
    z.object({
      type: z.literal(type),
      version: z.literal(EVENT_VERSION),
      position: z.number().int().positive(),
      at: z.number().int(),
      ...shape(),
    }),
  )
