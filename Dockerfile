# Pawl as a container: docker build -t pawl . && docker run -p 127.0.0.1:7295:7295 -v pawl:/data pawl
# The first stage builds what `npm pack` would publish; the second has that, its locked dependencies and nothing to build with.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY runtime/package.json runtime/
# What npm runs last: it finds no sources yet, and does nothing.
COPY scripts/prepare.js scripts/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
COPY runtime/package.json runtime/
# What is optional is a Node of its own for machines with an older one.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && npm cache clean --force \
 && mkdir /data && chown node:node /data && ln -s /app/bin/pawl.js /usr/local/bin/pawl
COPY LICENSE README.md ./
COPY bin bin
COPY --from=build /build/dist dist
ENV NODE_ENV=production PAWL_HOST=0.0.0.0 PAWL_DATA=/data
USER node
VOLUME /data
EXPOSE 7295
# /readyz, not /healthz: it says whether the store can be written.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PAWL_PORT || 7295}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# On SIGTERM it puts down what is at work, which goes on with the next start.
STOPSIGNAL SIGTERM
ENTRYPOINT ["pawl"]
CMD ["serve"]
