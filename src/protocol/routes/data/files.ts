import { z } from "zod"
import { UploadedFile } from "../../conversation/message-file.ts"
import { defineRoutes } from "../route.ts"
import { lazily } from "../../lazily.ts"

/** Files of messages. A message names them by their ids; one that no message names is gone after a day. */
export const fileRoutes = defineRoutes({
  uploadFile: {
    method: "POST",
    path: "/api/files",
    needs: "chat",
    says: "Keeps a file of at most 25 MB for a message: the body itself, with its name in X-File-Name (percent-encoded) or ?name=, or the field file of a form. The same bytes twice are the same file.",
    query: lazily(() => z.object({ name: z.string().max(2000).optional() })),
    takes: [
      ...(["application/octet-stream", "multipart/form-data", "image/png", "image/jpeg", "image/gif"] as const),
      ...(["image/webp", "application/pdf", "text/plain", "text/csv", "text/markdown"] as const),
    ],
    answers: { 201: UploadedFile },
  },
  readFile: {
    method: "GET",
    path: "/api/files/{id}",
    needs: "read",
    says: "The bytes of a file of yours. Images come as what they are, all else as something to save.",
    answers: { 200: lazily(() => z.unknown()) },
    media: "application/octet-stream",
  },
  removeFile: {
    method: "DELETE",
    path: "/api/files/{id}",
    needs: "manage",
    says: "Removes a file. Messages still name it, and no model is shown it any more.",
    answers: { 204: null },
  },
})
