# `make release` fills in the version and the checksum, as dist/anyhook.rb. The resources, which are the packages that anyhook
# needs, are written by `brew update-python-resources`.
class Anyhook < Formula
  include Language::Python::Virtualenv

  desc "One runtime for the lifecycle hooks of AI coding agents"
  homepage "https://github.com/anyhook/anyhook"
  url "https://files.pythonhosted.org/packages/source/a/anyhook/anyhook-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "libyaml"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
  end

  test do
    system bin/"anyhook", "add", "guard", "--yes"
    shell_output("#{bin}/anyhook try 'git push --force'", 2)
  end
end
