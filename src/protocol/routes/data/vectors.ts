import { z } from "zod"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Longer than nearly all notes; of a longer one its beginning says what it is about. */
export const MAX_EMBEDDED_CHARACTERS = 200_000

export const EmbedRequest = lazily(() =>
  z.strictObject({
    text: z.string().trim().min(1).max(MAX_EMBEDDED_CHARACTERS),
  }),
)

export const EmbedAnswer = lazily(() =>
  z.object({
    vector: z.array(z.number()),
    /** Only vectors of the same one can be compared. */
    embedder: z.string(),
  }),
)
export type EmbedAnswer = z.infer<typeof EmbedAnswer>

/** Texts into vectors, for devices that keep an index of their own. */
export const vectorRoutes = defineRoutes({
  embedText: {
    method: "POST",
    path: "/api/v1/storage/vectors/embed",
    needs: "chat",
    says: "The vector of a text, of length 1, and which embedder made it.",
    body: EmbedRequest,
    answers: { 200: EmbedAnswer },
  },
})
