import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { MasterKey } from "./master-keys.ts"

/** The row of a secret. A secret that is encrypted for one row cannot be decrypted for another. */
export interface SecretRow {
  readonly table: string
  readonly id: string
  readonly person: string
}

/** An encrypted secret with the id of its key. */
export interface EncryptedSecret {
  readonly keyId: string
  readonly sealed: string
}

const CIPHER = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts a text for its row: AES-256-GCM with a new nonce each time. */
export function encryptForRow({ id: keyId, key }: MasterKey, row: SecretRow, text: string): EncryptedSecret {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bindingOf(row, keyId))
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return { keyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64") }
}

/** Decrypts a secret; undefined if it was changed or belongs to another row or key. */
export function decryptForRow(
  { id: keyId, key }: MasterKey,
  row: SecretRow,
  { sealed }: EncryptedSecret,
): string | undefined {
  const bytes = Buffer.from(sealed, "base64")
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)]
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(bindingOf(row, keyId))
  try {
    const body = cipher.setAuthTag(tag).update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([body, cipher.final()]).toString("utf8")
  } catch {
    return undefined
  }
}

/** JSON, because fields that are merely joined could be divided in another way and mean another row. */
function bindingOf({ table, id, person }: SecretRow, keyId: string): Buffer {
  return Buffer.from(JSON.stringify(["pawl 1", keyId, table, id, person]))
}
