# SPDX-License-Identifier: Apache-2.0
# Homebrew formula, for a tap. Replace the address by that of your copy of the repository.
class Martlet < Formula
  desc "Relay and simulator of the Apple Push Notification service"
  homepage "https://example.com/martlet"
  license "Apache-2.0"
  head "https://example.com/martlet.git", branch: "main"

  depends_on "pkgconf" => :build
  depends_on xcode: ["26.4", :build]
  depends_on "libnghttp2"
  depends_on "libpq"
  depends_on "libuv"
  depends_on macos: :sequoia
  depends_on "openssl@3"
  depends_on "sqlite"
  depends_on "zlib"

  def install
    system "swift", "build", "--disable-sandbox", "--configuration", "release", "--product", "martlet"
    bin.install ".build/release/martlet"
    (man1/"martlet.1").write Utils.safe_popen_read(bin/"martlet", "manual")
    generate_completions_from_executable(bin/"martlet", "completion", shells: [:bash, :zsh, :fish])
  end

  def post_install
    (var/"martlet").mkpath
  end

  service do
    run [opt_bin/"martlet", "relay", "--configuration", etc/"martlet/relay.json"]
    keep_alive true
    working_dir var/"martlet"
    log_path var/"log/martlet.log"
    error_log_path var/"log/martlet.log"
  end

  test do
    # It sends pushes to a simulator, and exits 1 if one has another outcome than expected.
    system bin/"martlet", "demo"
  end
end
