// Writes the digest of each base image behind its tag: `node scripts/pin-images.js` before a release. A tag can be moved to another image, a
// digest cannot. Nothing is written if a registry does not tell a digest.
import { readFileSync, writeFileSync } from "node:fs"

const FILES = ["Dockerfile", "compose.yaml", "compose.cluster.yaml"]
/** Images of others; ours is built here and has no tag. */
const IMAGE = /^(?<before>FROM |\s+image: )(?<name>[a-z0-9./-]+):(?<tag>[\w.-]+)(?:@sha256:[0-9a-f]{64})?/gm
const DIGEST = /^sha256:[0-9a-f]{64}$/
/** The list of all processors first: the digest of one image would leave out the others. */
const KINDS = ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"]

const { PIN_REGISTRY: registry = "https://registry-1.docker.io", PIN_AUTH: auth = "https://auth.docker.io" } =
  process.env

const texts = new Map(FILES.map((file) => [file, readFileSync(file, "utf8")]))
const images = new Set(
  [...texts.values()].flatMap((text) => [...text.matchAll(IMAGE)].map(({ groups }) => `${groups.name}:${groups.tag}`)),
)
const digests = new Map()
for (const image of images) digests.set(image, await digestOf(image))
for (const [file, text] of texts) {
  const pinned = text.replace(
    IMAGE,
    (_all, before, name, tag) => `${before}${name}:${tag}@${digests.get(`${name}:${tag}`)}`,
  )
  writeFileSync(file, pinned)
}
for (const [image, digest] of digests) console.log(`${image}@${digest}`)

async function digestOf(image) {
  const [name, tag] = image.split(":")
  const path = name.includes("/") ? name : `library/${name}`
  const asked = await fetch(`${auth}/token?service=registry.docker.io&scope=repository:${path}:pull`)
  if (!asked.ok) throw new Error(`${auth} gave no token for ${image}: ${asked.status}.`)
  const { token } = await asked.json()
  const headers = { authorization: `Bearer ${token}`, accept: KINDS.join(", ") }
  const answer = await fetch(`${registry}/v2/${path}/manifests/${tag}`, { method: "HEAD", headers })
  const digest = answer.headers.get("docker-content-digest") ?? ""
  if (!answer.ok || !DIGEST.test(digest)) throw new Error(`${registry} told no digest of ${image}: ${answer.status}.`)
  return digest
}
