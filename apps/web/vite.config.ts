import { fileURLToPath } from "node:url"
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/** The server that the page of `npm run dev:page` speaks to. */
const server = process.env.PAWL_URL ?? "http://127.0.0.1:7295"

/** The client's exports reach it from the start, but only the page of a run uses it. */
const TIMELINE = /\/client\/timeline/

/** A file of these is left out if nothing of it is used: loading one has no effect but its schemas. */
const WITHOUT_EFFECTS = /\/(?:client\/timeline|core\/protocol|core\/shared)\//

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative, because the server puts itself before it: it may be below a path (PAWL_PUBLIC_URL).
  base: "./",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL("../../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    // A file inside another would be an inline one, which the page's policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    // What everybody loads at once is two files, of which a new version of Pawl mostly leaves the first as it was. Else
    // it is a dozen: one for each set of pages that share something, and each asked for and answered by itself.
    rolldownOptions: {
      treeshake: {
        moduleSideEffects: [{ test: WITHOUT_EFFECTS, sideEffects: false }],
      },
      output: {
        codeSplitting: {
          groups: [
            { name: "libraries", tags: ["$initial"], test: /node_modules/ },
            { name: "to-timeline", test: TIMELINE, includeDependenciesRecursively: false },
            { name: "page", tags: ["$initial"] },
          ],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      // To the server a request looks as if its own page had made it; the cookie counts for every port of a host.
      ["/api", "/sign-in", "/docs", "/chart-frame"].map((path) => [
        path,
        { target: server, changeOrigin: true, ws: true, headers: { origin: server } },
      ]),
    ),
  },
})
