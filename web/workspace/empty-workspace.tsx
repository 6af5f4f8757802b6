import { type ReactNode, useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { ImportButton } from "./import-button.tsx"
import { loadSample } from "./sample.ts"

interface EmptyWorkspaceProps {
  readonly what: string
  readonly says: string
  readonly children?: ReactNode
}

/** Nothing there yet: how to begin. */
export function EmptyWorkspace({ what, says, children }: EmptyWorkspaceProps) {
  const [isSent, setSent] = useState(false)
  return (
    <div className="grid min-h-0 flex-1 place-items-center overflow-y-auto p-6">
      <div className="w-full max-w-md">
        <h2 className="mb-2 font-serif text-2xl">No {what} yet</h2>
        <p className="mb-5 text-soft">{says}</p>
        {children}
        <div className="mt-6 rounded-xl bg-sunken px-4 py-3 text-sm">
          <p className="mb-3 text-soft">
            Or begin with a small workspace to try things on. It can be taken out again; what you have changed stays.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button
              disabled={isSent}
              onClick={() => {
                setSent(true)
                void attempt(loadSample).then(() => setSent(false))
              }}
            >
              Load the sample
            </Button>
            <ImportButton />
          </div>
        </div>
      </div>
    </div>
  )
}
