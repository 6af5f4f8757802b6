import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

const pawl = "http://127.0.0.1:7295"

/** `npx vite examples/ai-sdk`, beside a server: what the page asks for goes to it as if it came from there. */
export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/ai-sdk": { target: pawl, changeOrigin: true, headers: { origin: pawl } } } },
})
