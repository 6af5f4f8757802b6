import { createHash, randomBytes } from "node:crypto"

/** 256 bits of chance that somebody shows to come in. It is given away once and stored as its hash only. */
export const newSecret = (prefix = ""): string => `${prefix}${randomBytes(32).toString("base64url")}`

/** What is stored of a secret: a copy of the database opens nothing. Without salt, as nobody guesses 256 bits. */
export const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex")
