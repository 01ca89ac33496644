# One image for every part: `docker run drover worker`, `… board`, `… status`.

FROM node:22-slim AS build
WORKDIR /app
# npm's own files first, so that a change of the sources does not install everything again
COPY package.json package-lock.json .npmrc ./
# without the scripts: `prepare` builds, and there is nothing to build yet
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/copy-assets.ts scripts/
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
# of `board`
EXPOSE 3000
# a worker ends its jobs within 10 s of a SIGTERM: give it as long (`docker stop -t 15`)
ENTRYPOINT ["node", "/app/dist/producers/cli/main.js"]
CMD ["worker"]
