// Which convolution algorithm exists for which shape, what its workspace admits, and what every pass counts.
#include "model/cost/convolution.hpp"

#include <algorithm>
#include <array>

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

using A = ConvolutionAlgorithm;
using P = ConvolutionPass;

constexpr std::array kAll{A::implicit_gemm, A::direct, A::winograd_fused, A::winograd_nonfused, A::fft};
constexpr std::array kPasses{P::forward, P::backward_data, P::backward_weights};
const KernelRates kBoard{FlopPerSecond(1e13), BytesPerSecond(5e11), Seconds(5e-6), 56};

/// n x c x h x h, k filters of r x r, padded to keep h / stride.
ConvolutionShape square(double n, double c, double h, double k, double r, double stride = 1, double groups = 1) {
  const double p = (h - 1) / stride + 1 - ((h - 1) / stride - static_cast<int>((h - 1) / stride));
  return {n, c, h, h, k, r, r, p, p, stride, stride, groups};
}

bool exists(const ConvolutionShape& shape, P pass, A algorithm) {
  return convolution_time(shape, pass, algorithm, Bytes(4.0), ConvolutionConstants{}, kBoard).has_value();
}

KernelTimeModel timed(const ConvolutionShape& shape, P pass, A algorithm, Bytes element = Bytes(4.0)) {
  return convolution_time(shape, pass, algorithm, element, ConvolutionConstants{}, kBoard).value();
}

}  // namespace

TEST_CASE("implicit GEMM serves every shape and pass") {
  for (const P pass : kPasses) {
    CHECK(exists(square(32, 3, 224, 64, 7, 2), pass, A::implicit_gemm));
    CHECK(exists(square(1, 64, 1, 10, 1), pass, A::implicit_gemm));
    CHECK(exists(square(8, 32, 56, 32, 3, 1, 32), pass, A::implicit_gemm));
  }
}

TEST_CASE("Winograd needs 3 x 3 or, non-fused, 5 x 5, with stride 1 and one group") {
  const ConvolutionShape three = square(32, 64, 56, 64, 3), five = square(32, 64, 27, 64, 5);
  CHECK(exists(three, P::forward, A::winograd_fused));
  CHECK(exists(three, P::backward_data, A::winograd_fused));
  CHECK_FALSE(exists(three, P::backward_weights, A::winograd_fused));
  for (const P pass : kPasses) {
    CHECK(exists(three, pass, A::winograd_nonfused));
    CHECK(exists(five, pass, A::winograd_nonfused));
    CHECK_FALSE(exists(five, pass, A::winograd_fused));
    for (const A winograd : {A::winograd_fused, A::winograd_nonfused}) {
      CHECK_FALSE(exists(square(32, 64, 56, 64, 1), pass, winograd));
      CHECK_FALSE(exists(square(32, 64, 56, 64, 4), pass, winograd));
      CHECK_FALSE(exists(square(32, 64, 56, 64, 7), pass, winograd));
      CHECK_FALSE(exists(square(32, 64, 56, 64, 3, 2), pass, winograd));
      CHECK_FALSE(exists(square(32, 64, 56, 64, 3, 1, 2), pass, winograd));
      ConvolutionShape uneven = three;
      uneven.s = 1;
      CHECK_FALSE(exists(uneven, pass, winograd));
      ConvolutionShape half = three;
      half.stride_w = 2;
      CHECK_FALSE(exists(half, pass, winograd));
    }
  }
}

TEST_CASE("FFT needs stride 1 and one group, and a filter to transform that fits the tile") {
  for (const P pass : kPasses) {
    CHECK(exists(square(32, 64, 27, 64, 5), pass, A::fft));
    CHECK_FALSE(exists(square(32, 64, 27, 64, 1), pass, A::fft));
    CHECK_FALSE(exists(square(32, 64, 28, 64, 5, 2), pass, A::fft));
    CHECK_FALSE(exists(square(32, 64, 27, 64, 5, 1, 2), pass, A::fft));
  }
  CHECK(exists(square(32, 8, 64, 8, 32), P::forward, A::fft));        // one output a tile of 32
  CHECK_FALSE(exists(square(32, 8, 64, 8, 33), P::forward, A::fft));  // none
  // The weight gradient correlates whole images.
  CHECK(exists(square(32, 64, 32, 64, 5), P::backward_weights, A::fft));
  CHECK_FALSE(exists(square(32, 64, 33, 64, 5), P::backward_weights, A::fft));
}

TEST_CASE("the direct kernel serves depthwise convolutions only") {
  for (const P pass : kPasses) {
    CHECK(exists(square(32, 64, 56, 64, 3, 1, 64), pass, A::direct));
    CHECK(exists(square(32, 64, 56, 128, 3, 2, 64), pass, A::direct));
    CHECK_FALSE(exists(square(32, 64, 56, 64, 3), pass, A::direct));
    CHECK_FALSE(exists(square(32, 64, 56, 64, 3, 1, 32), pass, A::direct));
    CHECK_FALSE(exists(square(32, 1, 56, 64, 3), pass, A::direct));
  }
}

TEST_CASE("useful FLOP are those of the direct method, for every pass and algorithm") {
  const ConvolutionShape shape = square(32, 64, 27, 192, 5);
  for (const P pass : kPasses) {
    for (const A algorithm : {A::implicit_gemm, A::winograd_nonfused, A::fft})
      CHECK(timed(shape, pass, algorithm).flop == Flop(2.0 * 32 * 192 * 27 * 27 * 64 * 25));
    CHECK(timed(square(32, 64, 56, 64, 3, 1, 64), pass, A::direct).flop == Flop(2.0 * 32 * 64 * 56 * 56 * 9));
    CHECK(timed(square(32, 64, 56, 64, 3, 1, 2), pass, A::implicit_gemm).flop == Flop(2.0 * 32 * 64 * 56 * 56 * 32 * 9));
  }
  CHECK(timed(square(32, 64, 56, 64, 3), P::backward_data, A::winograd_fused).flop == Flop(2.0 * 32 * 64 * 56 * 56 * 64 * 9));
}

TEST_CASE("compulsory bytes are x, w and y once, groups share no filter") {
  const double x = 32.0 * 64 * 56 * 56 * 4, w = 64.0 * 64 * 9 * 4;
  CHECK(timed(square(32, 64, 56, 64, 3), P::forward, A::implicit_gemm).bytes == Bytes(2 * x + w));
  CHECK(timed(square(32, 64, 56, 64, 3, 1, 2), P::forward, A::implicit_gemm).bytes == Bytes(2 * x + w / 2));
  CHECK(timed(square(32, 64, 56, 64, 3), P::forward, A::implicit_gemm, Bytes(2.0)).bytes == Bytes(x + w / 2));
}

TEST_CASE("only transformed algorithms ask for workspace, in all three passes alike where tiles agree") {
  const ConvolutionShape shape = square(16, 512, 7, 512, 3);
  for (const P pass : kPasses) {
    CHECK(timed(shape, pass, A::implicit_gemm).workspace == Bytes(0.0));
    CHECK(timed(shape, pass, A::winograd_nonfused).workspace == Bytes(47185920.0));
  }
  CHECK(timed(shape, P::forward, A::winograd_fused).workspace == Bytes(0.0));
  CHECK(timed(shape, P::forward, A::fft).workspace > Bytes(0.0));
  CHECK(timed(shape, P::forward, A::winograd_nonfused, Bytes(2.0)).workspace == Bytes(47185920.0 / 2));
}

TEST_CASE("the fastest offered algorithm is chosen, never one that was not offered") {
  const ConvolutionShape shape = square(64, 256, 14, 256, 3);
  const auto pick = [&](std::initializer_list<A> offered) {
    const std::vector<A> list(offered);
    return fastest_convolution(shape, P::forward, list, {}, Bytes(4.0), ConvolutionConstants{}, kBoard);
  };
  Seconds least = timed(shape, P::forward, A::implicit_gemm).time;
  for (const A algorithm : {A::winograd_fused, A::winograd_nonfused, A::fft})
    least = std::min(least, timed(shape, P::forward, algorithm).time);
  const ConvolutionTime best = fastest_convolution(shape, P::forward, kAll, {}, Bytes(4.0), ConvolutionConstants{}, kBoard);
  CHECK(best.kernel.time == least);
  CHECK(best.kernel.time < timed(shape, P::forward, A::implicit_gemm).time);
  CHECK(pick({A::implicit_gemm}).algorithm == A::implicit_gemm);
  CHECK(pick({}).algorithm == A::implicit_gemm);  // every library has it
  CHECK(pick({A::direct}).algorithm == A::implicit_gemm);
  CHECK(pick({A::winograd_nonfused}).algorithm == A::winograd_nonfused);
}

TEST_CASE("with less scratch memory slower algorithms remain, down to one that needs none") {
  for (const P pass : kPasses)
    for (const ConvolutionShape& shape : {square(64, 256, 14, 256, 3), square(32, 64, 27, 192, 5), square(16, 64, 56, 64, 1)}) {
      const ConvolutionTime best = fastest_convolution(shape, pass, kAll, {}, Bytes(4.0), ConvolutionConstants{}, kBoard);
      Bytes workspace = best.kernel.workspace;
      Seconds longer(0.0);
      for (const SmallerWorkspace& choice : best.smaller.all()) {
        CHECK(choice.workspace < workspace);
        CHECK(choice.longer >= longer);
        const ConvolutionTime limited =
            fastest_convolution(shape, pass, kAll, 2.0 * choice.workspace, Bytes(4.0), ConvolutionConstants{}, kBoard);
        CHECK(limited.kernel.time <= best.kernel.time + choice.longer);
        workspace = choice.workspace;
        longer = choice.longer;
      }
      CHECK(workspace == Bytes(0.0));
    }
}

TEST_CASE("the workspace limit, both sides") {
  const ConvolutionShape shape = square(64, 256, 14, 256, 3);
  const Bytes asked = timed(shape, P::forward, A::winograd_nonfused).workspace;
  const std::array offered{A::implicit_gemm, A::winograd_nonfused};
  const auto pick = [&](Bytes limit) {
    return fastest_convolution(shape, P::forward, offered, limit, Bytes(4.0), ConvolutionConstants{}, kBoard).algorithm;
  };
  CHECK(pick(Bytes(0.0)) == A::implicit_gemm);
  CHECK(pick(0.99 * asked) == A::implicit_gemm);
  CHECK(pick(2.0 * asked) == A::winograd_nonfused);  // the search asks for up to twice what is kept
  // Somewhere between lies one threshold: below refused, above accepted.
  double low = 0.99, high = 2.0;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (pick(middle * asked) == A::implicit_gemm ? low : high) = middle;
  }
  CHECK(pick(low * (1 - 1e-9) * asked) == A::implicit_gemm);
  CHECK(pick(high * (1 + 1e-9) * asked) == A::winograd_nonfused);
}

TEST_CASE("filter classes: each scale moves its own class and pass only") {
  const auto implicit = [](const ConvolutionShape& shape, P pass, const ConvolutionConstants& constants) {
    return convolution_time(shape, pass, A::implicit_gemm, Bytes(4.0), constants, kBoard)->time;
  };
  // pointwise, dense, strided, first layer: big enough to be bound by arithmetic.
  const std::array shapes{square(64, 256, 28, 256, 1), square(64, 256, 28, 256, 3), square(64, 256, 28, 256, 3, 2),
                          square(64, 3, 112, 256, 5)};
  ConvolutionConstants base;  // kernels for images are the faster ones there
  base.forward[3] = base.backward_data[3] = base.backward_weights[3] = 0.2;
  for (std::size_t pass = 0; pass < 3; ++pass) {
    for (std::size_t cls = 0; cls < 4; ++cls) {
      ConvolutionConstants slower = base;
      (pass == 0 ? slower.forward : pass == 1 ? slower.backward_data : slower.backward_weights)[cls] *= 2.0;
      for (std::size_t other_pass = 0; other_pass < 3; ++other_pass) {
        for (std::size_t other = 0; other < 4; ++other) {
          INFO("scale of pass " << pass << ", class " << cls << "; seen by pass " << other_pass << ", class " << other);
          const Seconds before = implicit(shapes[other], kPasses[other_pass], base);
          const Seconds after = implicit(shapes[other], kPasses[other_pass], slower);
          CHECK((after > before) == (pass == other_pass && cls == other));
        }
      }
    }
  }
  // The first layer keeps its class when strided, as it usually is.
  ConvolutionConstants slower = base;
  slower.forward[3] *= 2.0;
  const ConvolutionShape stem = square(64, 3, 224, 64, 7, 2);
  CHECK(implicit(stem, P::forward, slower) > implicit(stem, P::forward, base));
}

TEST_CASE("a strided input gradient does as many products as the forward pass") {
  // stride 2: only one filter tap in four meets an output. Equal GEMM volumes n p q x k x c r s = n h w x c x k r s / 4.
  const ConvolutionShape even{64, 256, 28, 28, 256, 4, 4, 14, 14, 2, 2, 1};
  const double forward = timed(even, P::forward, A::implicit_gemm).time.base();
  const double data = timed(even, P::backward_data, A::implicit_gemm).time.base();
  CHECK(data > 0.7 * forward);
  CHECK(data < 1.5 * forward);
}

TEST_CASE("small tiles of weight gradients lose more, and only theirs") {
  ConvolutionConstants easy, hard;
  easy.gather_penalty = 0.0;
  hard.gather_penalty = 20.0;
  for (const P pass : kPasses) {
    const auto loss = [&](const ConvolutionShape& shape) {
      const auto time = [&](const ConvolutionConstants& constants) {
        return convolution_time(shape, pass, A::implicit_gemm, Bytes(4.0), constants, kBoard)->time;
      };
      return time(hard) / time(easy);
    };
    const double few = loss(square(16, 32, 56, 32, 3)), many = loss(square(16, 256, 28, 256, 3));
    CHECK((few > 1.0) == (pass == P::backward_weights));
    if (pass == P::backward_weights) CHECK(few > 1.2 * many);
  }
}

TEST_CASE("a stride leaves a 1x1 filter in its class, but not in backward data") {
  ConvolutionConstants slower;
  slower.forward[0] = slower.backward_data[0] = slower.backward_weights[0] = 2.0;
  for (const P pass : kPasses) {
    const auto time = [&](const ConvolutionConstants& constants) {
      return convolution_time(square(64, 256, 56, 256, 1, 2), pass, A::implicit_gemm, Bytes(4.0), constants, kBoard)->time;
    };
    CHECK((time(slower) > time(ConvolutionConstants{})) == (pass != P::backward_data));
  }
}

TEST_CASE("the gradient of an image is in proportion to its channels, and to taps and what goes with them") {
  ConvolutionConstants constants;
  constants.backward_data[3] = 100.0;  // bound by arithmetic
  constants.backward_data[1] = 1e4;    // and the faster of the two ways
  constants.tiles.prologue_depth = 16.0;
  const auto time = [&](double channels, double side) {
    return convolution_time(square(16, channels, 224, 256, side), P::backward_data, A::implicit_gemm, Bytes(4.0), constants,
                            kBoard)
        ->time;
  };
  CHECK_THAT(time(3, 7) / time(1, 7), WithinRel(3.0, 1e-3));
  CHECK_THAT(time(3, 7) / time(3, 3), WithinRel((49.0 + 16.0) / (9.0 + 16.0), 1e-3));
}

TEST_CASE("more channels never make a convolution faster: kernels for images and padding are choices beside the others") {
  ConvolutionConstants slow, fast;  // kernels for images
  for (auto* scales : {&slow.forward, &slow.backward_data, &slow.backward_weights}) (*scales)[3] = 5.0;
  for (auto* scales : {&fast.forward, &fast.backward_data, &fast.backward_weights}) (*scales)[3] = 0.3;
  ConvolutionConstants tensor = slow;
  tensor.aligned = Bytes(16.0);
  const auto time = [](const ConvolutionConstants& constants, double channels, double filter, double stride, P pass,
                       Bytes element) {
    const double side = 56.0 / stride;
    const ConvolutionShape shape{16, channels, 56, 56, 64, filter, filter, side, side, stride, stride, 1};
    return convolution_time(shape, pass, A::implicit_gemm, element, constants, kBoard)->time.base();
  };
  for (const auto* constants : {&slow, &fast, &tensor}) {
    const Bytes element(constants == &tensor ? 2.0 : 4.0);
    for (const P pass : kPasses) {
      for (const double filter : {1.0, 3.0, 7.0}) {
        for (const double stride : {1.0, 2.0}) {
          double most = 0.0;
          for (double channels = 1.0; channels <= 72.0; channels += 1.0) {
            INFO(channels << " channels, filter " << filter << ", stride " << stride << ", pass " << static_cast<int>(pass));
            const double now = time(*constants, channels, filter, stride, pass, element);
            CHECK(now >= most * 0.97);
            most = std::max(most, now);
          }
        }
      }
    }
  }
  // Five channels of 16 bits are computed as eight.
  CHECK(time(tensor, 5, 3, 1, P::forward, Bytes(2.0)) > 1.1 * time(slow, 5, 3, 1, P::forward, Bytes(2.0)));
  CHECK(time(tensor, 8, 3, 1, P::forward, Bytes(2.0)) == time(slow, 8, 3, 1, P::forward, Bytes(2.0)));
}

TEST_CASE("rows that a stride skips are not read, by any board") {
  // 1 x 1 filters over so many images that bytes alone count: 64 channels of 56 x 56 to 64 of 28 x 28, with stride 2.
  const KernelRates fast{FlopPerSecond(1e18), BytesPerSecond(5e11), Seconds(0.0), 56};
  const auto bytes = [&](double r, P pass) {
    return 5e11 *
           convolution_time(square(256, 64, 56, 64, r, 2), pass, A::implicit_gemm, Bytes(4.0), ConvolutionConstants{}, fast)
               ->time.base();
  };
  const double x = 256.0 * 64 * 56 * 56 * 4, y = x / 4;
  CHECK_THAT(bytes(1, P::forward), Catch::WithinRel(x / 2 + y + 64.0 * 64 * 4, 0.01));
  CHECK_THAT(bytes(2, P::forward), Catch::WithinRel(x + y + 4 * 64.0 * 64 * 4, 0.01));
}

TEST_CASE("gradients on tensor cores have large tiles alone, on Turing one for each tap") {
  ConvolutionConstants tensor;
  tensor.aligned = Bytes(16.0);
  tensor.tiles.tile_penalty = tensor.tiles.prologue_depth = tensor.gather_penalty = 0.0;
  KernelRates board{FlopPerSecond(1e14), BytesPerSecond(1e15), Seconds(0.0), 80}, turing = board;
  turing.taps_apart = true;
  const auto time = [&](const ConvolutionShape& shape, P pass, const KernelRates& rates) {
    return convolution_time(shape, pass, A::implicit_gemm, Bytes(2.0), tensor, rates)->time.base();
  };
  // A block of 128 x 128 x 4608 products on one of 80 multiprocessors, for 8 images of 7 x 7 as for 16; the forward pass has
  // smaller tiles.
  const double block = 2.0 * 128 * 128 * 4608 * 80 / 1e14;
  CHECK_THAT(time(square(8, 512, 7, 512, 3), P::backward_data, board), Catch::WithinRel(block, 0.01));
  CHECK_THAT(time(square(16, 512, 7, 512, 3), P::backward_data, board), Catch::WithinRel(block, 0.01));
  CHECK(time(square(8, 512, 7, 512, 3), P::forward, board) < 0.5 * block);
  // Tiles hold the channels of one tap: images of three channels take as long as 128 do, 64 filters as long as 128.
  const auto gradient = [&](double c, double k) { return time(square(16, c, 112, k, 3), P::backward_weights, turing); };
  CHECK_THAT(gradient(3, 64), Catch::WithinRel(gradient(128, 128), 0.01));
  CHECK_THAT(gradient(256, 128), Catch::WithinRel(2.0 * gradient(128, 128), 0.02));
  CHECK(time(square(16, 3, 112, 64, 3), P::backward_weights, board) < 0.5 * gradient(3, 64));
}
