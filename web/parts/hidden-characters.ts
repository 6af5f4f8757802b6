/** What hides is one rule for every face; the page and the terminal draw it each in their own way. */
export { escapeHidden, type Piece, piecesOf } from "../../src/client/index.ts"
