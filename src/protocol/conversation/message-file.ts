import { z } from "zod"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** How many files one message may have. */
export const MAX_FILES = 10
/** Bytes of one file. */
export const MAX_BYTES_OF_FILE = 25_000_000
/** Characters of a file's name. */
export const MAX_NAME_OF_FILE = 200

/** A file of a message, as everybody is told of it. Its bytes are asked for by its id. */
export const MessageFile = lazily(() =>
  z.object({
    id: ids.file,
    name: z.string(),
    /** What it is by its content. */
    type: z.string(),
    /** Bytes. */
    size: z.number().int(),
    /** Of an image, in pixels. */
    width: z.number().int().optional(),
    height: z.number().int().optional(),
  }),
)
export type MessageFile = z.infer<typeof MessageFile>

/** The same for whoever has uploaded it. The same bytes again are the same file. */
export const UploadedFile = lazily(() => MessageFile.extend({ sha256: z.string() }))
export type UploadedFile = z.infer<typeof UploadedFile>

/** The images that models and pages are shown. Any other is no image here. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

export const isImageType = (type: string): boolean => (IMAGE_TYPES as readonly string[]).includes(type)
