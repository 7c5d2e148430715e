#!/bin/sh
# After `azd provision`: registers the page's sign-in, builds the image of this commit in the
# registry, without Docker here, and provisions again with both. The second time the image is the
# same, and there is nothing to do. ROUNDS_REGISTER_SIGN_IN=false leaves the sign-in alone.
set -eu
: "${AZURE_CONTAINER_REGISTRY_ENDPOINT:?run azd provision first}"

if [ -n "$(git status --porcelain)" ]; then
  echo "rounds: there are uncommitted changes; an image names its commit" >&2
  exit 1
fi
tag=$(git rev-parse --short=12 HEAD)
image="$AZURE_CONTAINER_REGISTRY_ENDPOINT/rounds:$tag"
if [ "${ROUNDS_IMAGE:-}" = "$image" ]; then
  exit 0
fi
if [ "${ROUNDS_REGISTER_SIGN_IN:-true}" != false ]; then
  python3 scripts/register_sign_in.py
fi
az acr build --registry "${AZURE_CONTAINER_REGISTRY_ENDPOINT%%.*}" --image "rounds:$tag" --file infra/Dockerfile .
azd env set ROUNDS_IMAGE "$image"
azd provision --no-prompt
