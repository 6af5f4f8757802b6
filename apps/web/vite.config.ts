import { fileURLToPath } from "node:url"
import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

/** The server that the page of `npm run dev:page` speaks to. */
const server = process.env.PAWL_URL ?? "http://127.0.0.1:7295"

/** Part of the client's entry point, but only the page of a run uses it. */
const TIMELINE = /\/client\/timeline/

/** Modules without side effects other than creating schemas: dropped if unused. */
const WITHOUT_EFFECTS = /\/(?:client\/timeline|core\/protocol|core\/shared)\//

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative, because the server may be below a path (PAWL_PUBLIC_URL).
  base: "./",
  plugins: [react(), tailwindcss()],
  build: {
    outDir: fileURLToPath(new URL("../../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2023",
    // Inlined files would be `data:` URLs, which the page's policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    // The first load is two files. The first one rarely changes with a new version. By default it would be a dozen: one
    // for each set of pages that share a module.
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
      // To the server the request must look as if its own page had sent it. Cookies are shared by all ports of a host.
      ["/api", "/sign-in", "/docs", "/chart-frame"].map((path) => [
        path,
        { target: server, changeOrigin: true, ws: true, headers: { origin: server } },
      ]),
    ),
  },
})
