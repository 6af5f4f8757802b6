// `npm ci` runs this last in a checkout: it builds the command for `npx pawl`. It does nothing in CI, where tests build their own, and
// if the sources are missing, as in a container. If the build fails, `npx pawl` starts from source.
import { existsSync } from "node:fs"
const isCheckout = existsSync(new URL("../apps/cli/pawl.ts", import.meta.url))
if (isCheckout && !process.env.CI && Number(process.versions.node.split(".")[0]) >= 24) {
  try {
    const { buildCheckout } = await import("./build-checkout.ts")
    await buildCheckout()
  } catch (error) {
    console.error(
      `Pawl could not be built and starts from source: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
