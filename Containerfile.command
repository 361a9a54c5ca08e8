# The command in an image that holds nothing else: it reproduces the papers and judges controls
# without a network.
#
#   podman build --file Containerfile.command --tag firstflight .
#   podman run --rm --network none firstflight judge hystart --quick
#   podman run --rm --network none --volume .:/out firstflight reproduce --out report

ARG RUST=docker.io/library/rust:1.90-slim-bookworm

FROM ${RUST} AS build
RUN apt-get update && apt-get install --yes --no-install-recommends musl-tools \
    && rustup target add x86_64-unknown-linux-musl
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist --package firstflight-cli \
        --target x86_64-unknown-linux-musl \
    && mv target/x86_64-unknown-linux-musl/dist/firstflight /firstflight

FROM scratch
COPY --from=build /firstflight /firstflight
WORKDIR /out
ENTRYPOINT ["/firstflight"]
