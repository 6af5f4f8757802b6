import { createHash, randomBytes } from "node:crypto"
import { openStore } from "../../core/store/store.ts"

/** Uploads one large file after the other until it is killed, and prints the acknowledged ones. */
const [url = "", filesFolder = ""] = process.argv.slice(2)
const store = await openStore({ url, filesFolder })
const { id: user } = await store.people.ensure("ada", Date.now())
for (;;) {
  const bytes = randomBytes(3 * 1024 * 1024)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const file = { name: "a.bin", type: "text/plain", bytes, sha256 }
  const { id } = await store.messageFiles.keep(user, file, 1e12)
  process.stdout.write(`kept ${user} ${id} ${sha256}\n`)
}
