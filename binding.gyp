{ "targets": [ { "target_name": "warmloop_native", "type": "none", "actions": [ {
  "action_name": "cmake_js_compile", "message": "building native/ with cmake-js",
  "inputs": [ "native/CMakeLists.txt" ], "outputs": [ "<(PRODUCT_DIR)/warmloop.node" ],
  "action": [ "node", "native/build.mjs", "--copy-to", "<(PRODUCT_DIR)" ] } ] } ] }
