import { useRef } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { importFile } from "./sample.ts"

export function ImportButton() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button onClick={() => input.current?.click()}>Import a file</Button>
      <FileInput ref={input} />
    </>
  )
}

/** The browser's own chooser, opened by a button that looks like ours. */
export function FileInput({ ref }: { readonly ref: React.Ref<HTMLInputElement> }) {
  return (
    <input
      ref={ref}
      type="file"
      accept="application/json,.json"
      aria-label="Workspace file"
      className="hidden"
      onChange={(event) => {
        const file = event.target.files?.[0]
        event.target.value = "" // the same file may be chosen again
        if (file) void attempt(() => importFile(file))
      }}
    />
  )
}
