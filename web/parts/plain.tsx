import { memo } from "react"
import { piecesOf } from "./hidden-characters.ts"

/** Text of somebody else, exactly: nothing in it is markup, and what would not be seen is drawn. */
export const Plain = memo(function Plain({ text }: { readonly text: string }) {
  const pieces = piecesOf(text)
  return (
    <bdi>
      {pieces.map((piece, index) =>
        piece.hidden ? (
          <span
            key={index}
            className="mx-px rounded bg-warn-soft px-1 font-mono text-[0.8em] text-warn"
            title="A character that would not be seen"
          >
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  )
})
