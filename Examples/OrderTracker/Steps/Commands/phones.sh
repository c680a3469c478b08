# SPDX-License-Identifier: Apache-2.0

martlet simulate --h2c --environment production --phones 1 --reliable-phones --seed 47 \
    --phone-relay http://127.0.0.1:8198 --phone-relay-app shop --phone-relay-key-file back-end.key
